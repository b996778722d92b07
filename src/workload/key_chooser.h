// Which record a request asks for: the key choosers of YCSB's CoreWorkload.
#pragma once

#include <cstdint>

#include "workload/modulo.h"
#include "workload/profile.h"
#include "workload/random.h"
#include "workload/zipfian.h"

namespace turntable::workload {

// How many key numbers the scrambled zipfian distribution scatters its ranks over: the inclusive
// range 0 .. records + expected inserts, where YCSB expects twice the mean number of inserts.
std::uint64_t scrambled_key_numbers(const Workload& workload);

class KeyChooser {
 public:
  // The distribution must not be kSequential: that one inserts and never chooses.
  explicit KeyChooser(const Workload& workload);

  // The key number that 64 random bits stand for. `last` is the newest record that readers may ask
  // for (YCSB's AcknowledgedCounterGenerator.lastValue); it never decreases.
  std::uint64_t candidate(std::uint64_t bits, std::uint64_t last);

  // A key number in 0 .. `last`: candidates above it are drawn again, as in YCSB.
  std::uint64_t next(Random& random, std::uint64_t last);

 private:
  Distribution distribution_;
  std::uint64_t records_;
  Modulo scrambled_key_numbers_;
  Zipfian zipfian_;
};

}  // namespace turntable::workload
