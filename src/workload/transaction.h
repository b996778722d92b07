// What a client does next: YCSB's DiscreteGenerator over CoreWorkload's operations.
#pragma once

#include <array>
#include <cstdint>

#include "workload/profile.h"
#include "workload/random.h"

namespace turntable::workload {

enum class Transaction : std::uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite };

class TransactionChooser {
 public:
  explicit TransactionChooser(const Proportions& p)
      : shares_{p.read, p.update, p.insert, p.scan, p.read_modify_write} {
    double sum = 0;
    for (const double weight : shares_) sum += weight;
    for (double& share : shares_) share /= sum;
  }

  // The operation that 64 random bits stand for, in CoreWorkload's order and rounding.
  Transaction choose(std::uint64_t bits) const {
    double value = unit_interval(bits);
    unsigned last = 0;
    for (unsigned i = 0; i < shares_.size(); ++i) {
      if (shares_[i] <= 0) continue;
      if (value < shares_[i]) return static_cast<Transaction>(i);
      value -= shares_[i];
      last = i;
    }
    return static_cast<Transaction>(last);  // reached only by rounding; YCSB fails here
  }

 private:
  std::array<double, 5> shares_;  // indexed by Transaction
};

}  // namespace turntable::workload
