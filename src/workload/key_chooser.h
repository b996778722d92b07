// Which record a request asks for: the key choosers of YCSB's CoreWorkload.
#pragma once

#include <cstdint>

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

  // A key number in 0 .. `last`, where `last` is the newest record that readers may ask for (YCSB's
  // AcknowledgedCounterGenerator.lastValue). Numbers above it are drawn again, as in YCSB.
  std::uint64_t next(Random& random, std::uint64_t last);

 private:
  std::uint64_t draw(Random& random, std::uint64_t last);

  Distribution distribution_;
  std::uint64_t records_;
  std::uint64_t scrambled_key_numbers_;
  Zipfian zipfian_;
};

}  // namespace turntable::workload
