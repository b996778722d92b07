// All threads of a generator in one iteration, and what they measured together.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "load/client_life.h"
#include "load/open_loop_statistics.h"
#include "load/schedule.h"
#include "mcload/client_thread.h"
#include "mcload/offered.h"
#include "mcload/settings.h"
#include "mcload/statistics.h"

namespace turntable::mcload {

struct Measured {
  std::int64_t window_ns = 0;
  std::int64_t waited_ns = 0;  // after the window, for the last answers, at most
  load::OpenLoopStatistics loop;
  KeyValueStatistics key_value;
  std::vector<load::ThreadTiming> threads;

  void merge(const Measured& other);
  double achieved_per_s() const noexcept;
  // Of GETs and SETs together. What was never sent has no latency from the send.
  Offered latencies(bool from_send) const noexcept;
  // The latency that a share of `percentile` % of all offered requests did not exceed: requests
  // without an answer exceed everything. Negative: those are too many.
  std::int64_t percentile_ns(double percentile) const noexcept;
};

// Throws std::invalid_argument for a load that no process can offer: arrivals without a mean
// distance, requests that are too rare for the clock's range, or too many under way.
void check_load(const GeneratorSettings& settings);

class Generator {
 public:
  // Opens all connections; throws CommandError.
  Generator(const std::string& where, const GeneratorSettings& settings);

  const GeneratorSettings& settings() const noexcept { return settings_; }
  std::vector<load::Part*> parts() const;

  // Draws all requests of phases that are so long. That takes a while where they are many, so it is
  // done before a start is chosen.
  void draw(std::int64_t warmup_ns, std::int64_t measure_ns, std::int64_t drain_ns);
  // Plays what was drawn in threads of its own, from this instant on (CLOCK_MONOTONIC); `cancelled`
  // ends it early (it is looked at every few milliseconds). Once.
  void play(std::int64_t start_ns, const std::atomic<bool>& cancelled);
  Measured measured() const { return measured(schedule_); }  // after that

  // Of a schedule that others have played with parts(), after its end.
  Measured measured(const load::Schedule& schedule) const;

 private:
  GeneratorSettings settings_;
  load::Schedule schedule_;  // of draw(), then of play()
  std::vector<std::unique_ptr<ClientThread>> threads_;
};

}  // namespace turntable::mcload
