// Digests that a switch has sent and nobody has taken yet, oldest first.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>

#include "bfrt/bfruntime.pb.h"
#include "bfrt_driver/switch_schema.h"
#include "common/deadline.h"

namespace turntable::bfrt_driver {

// Thread-safe. Who waits longest is not served first, as it is at softswitch: one owner reads.
class DigestQueue {
 public:
  static constexpr std::size_t kLength = 4096;  // as softswitch; more are lost and counted

  void take(const SwitchSchema& schema, const bfrt_proto::DigestList& list);

  // The answer of `digest_read`: up to `most`, as {"name", "fields"}, and what is left. Waits for
  // the first one until the deadline.
  nlohmann::json read(std::size_t most, Deadline deadline);

  void close();  // ends all waits, now and later

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<nlohmann::json> digests_;
  std::uint64_t lost_ = 0;
  bool closed_ = false;
};

}  // namespace turntable::bfrt_driver
