// Work that keeps a processor busy for a given time: a loop whose pace is measured.
//
// The clock is not read while the loop runs, so that preempted work takes longer, as real work
// does. The pace is a constant of machine and compiler; the original has it as a number in its
// source, and is off by a fifth on another kernel (NetClone reference §6).
#pragma once

#include <cstdint>

namespace turntable::netclone {

class CalibratedWork {
 public:
  struct Calibration {
    double iterations_per_ns;
    // Of pieces of 10 us that were tried afterwards: their median beyond 10 us, as a share.
    // Negative: too short.
    double error;
  };

  // Takes about 50 ms of the calling thread.
  static CalibratedWork calibrated();

  void run(std::int64_t ns) const noexcept;
  const Calibration& calibration() const noexcept { return calibration_; }

 private:
  explicit CalibratedWork(double iterations_per_ns) : calibration_{iterations_per_ns, 0} {}

  Calibration calibration_;
};

}  // namespace turntable::netclone
