// What a thread asks for: keys and kinds of requests, drawn from a stream of random numbers of its
// own.
#pragma once

#include <cstdint>

#include "shadowfax/client/load_settings.h"
#include "shadowfax/wire.h"
#include "workload/key_chooser.h"
#include "workload/random.h"

namespace turntable::shadowfax {

class RequestSource {
 public:
  RequestSource(const LoadSettings& settings, unsigned thread)
      : chooser_(workload_of(settings)),
        last_key_(settings.keys - 1),
        adds_alone_(settings.mix.add >= 1),
        reads_below_(settings.mix.read),
        upserts_below_(settings.mix.read + settings.mix.upsert),
        random_(workload::stream_seed(settings.seed, settings.client, thread)) {}

  Request next() {
    const std::uint64_t key = chooser_.next(random_, last_key_);
    if (adds_alone_) return {Opcode::kAdd, key, 1};
    const double kind = workload::unit_interval(random_.next());
    if (kind < reads_below_) return {Opcode::kRead, key, 0};
    if (kind < upserts_below_) return {Opcode::kUpsert, key, 0};
    return {Opcode::kAdd, key, 1};
  }

 private:
  static workload::Workload workload_of(const LoadSettings& settings) {
    workload::Workload workload;
    workload.records = settings.keys;
    workload.distribution =
        settings.theta ? workload::Distribution::kZipfian : workload::Distribution::kUniform;
    workload.theta = settings.theta.value_or(workload.theta);
    return workload;
  }

  workload::KeyChooser chooser_;
  const std::uint64_t last_key_;
  const bool adds_alone_;
  const double reads_below_, upserts_below_;
  workload::Random random_;
};

}  // namespace turntable::shadowfax
