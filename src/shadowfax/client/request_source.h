// What a thread asks for: keys, drawn or from a file, and kinds of requests, which are drawn from a
// stream of random numbers of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "shadowfax/client/load_settings.h"
#include "shadowfax/wire.h"
#include "workload/key_chooser.h"
#include "workload/random.h"

namespace turntable::shadowfax {

class RequestSource {
 public:
  RequestSource(const LoadSettings& settings, unsigned thread)
      : file_(settings.txns_file),
        next_of_file_(first_of_file(settings, thread)),
        chooser_(workload_of(settings)),
        last_key_(settings.keys - 1),
        adds_alone_(settings.mix.add >= 1),
        reads_below_(settings.mix.read),
        upserts_below_(settings.mix.read + settings.mix.upsert),
        random_(workload::stream_seed(settings.seed, settings.client, thread)) {}

  Request next() {
    const std::uint64_t key = file_ ? next_of_file() : chooser_.next(random_, last_key_);
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

  static std::size_t first_of_file(const LoadSettings& settings, unsigned thread) {
    if (!settings.txns_file) return 0;
    const std::size_t threads = std::size_t{settings.clients} * settings.threads;
    const std::size_t number = std::size_t{settings.client} * settings.threads + thread;
    return settings.txns_file->keys().size() * number / threads;
  }

  std::uint64_t next_of_file() noexcept {
    const std::span<const std::uint64_t> keys = file_->keys();
    const std::uint64_t key = keys[next_of_file_];
    if (++next_of_file_ == keys.size()) next_of_file_ = 0;
    return key;
  }

  const std::shared_ptr<const KeyFile> file_;
  std::size_t next_of_file_;
  workload::KeyChooser chooser_;
  const std::uint64_t last_key_;
  const bool adds_alone_;
  const double reads_below_, upserts_below_;
  workload::Random random_;
};

}  // namespace turntable::shadowfax
