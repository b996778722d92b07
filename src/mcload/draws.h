// What request `number` of a thread is: a function of (seed, client, thread, number).
#pragma once

#include <cstdint>

#include "load/arrivals.h"
#include "workload/random.h"

namespace turntable::mcload {

class Draws {
 public:
  struct Request {
    std::uint32_t record;
    std::uint32_t connection;
    bool is_set;
  };

  Draws(std::uint64_t seed, std::uint32_t client, std::uint32_t thread, std::uint32_t records,
        std::uint32_t connections, double update)
      : seed_(seed),
        stream_(std::uint64_t{client} << 32 | thread),
        of_thread_(workload::stream_before_client(seed_, stream_)),
        records_(records),
        connections_(connections),
        update_(update) {}

  Request request(std::uint64_t number) const noexcept {
    workload::SplitMix64 random(workload::stream_seed_of(of_thread_, number));
    const auto record = below(records_, random.next());
    const auto connection = below(connections_, random.next());
    return {record, connection, workload::unit_interval(random.next()) < update_};
  }

  // Draws of their own: which keys are asked for does not depend on the process.
  load::Gap gaps(const load::Arrivals& arrivals) const {
    constexpr std::uint64_t kOther = 0x6172726976616c73;
    return load::drawn_gaps(arrivals, seed_ ^ kOther, stream_);
  }

 private:
  static std::uint32_t below(std::uint32_t end, std::uint64_t bits) noexcept {
    return static_cast<std::uint32_t>((bits >> 32) * end >> 32);
  }

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t of_thread_;  // what all its requests have in common
  std::uint32_t records_;
  std::uint32_t connections_;
  double update_;
};

}  // namespace turntable::mcload
