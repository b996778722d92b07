// Executes requests at a redis-server for their results, on the thread of a server.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "netclone/server/redis_connection.h"

namespace turntable::netclone {

// Of all connections of a server since `prepare`. Thread-safe.
struct RedisCounts {
  std::atomic<std::int64_t> executed{0};
  std::atomic<std::int64_t> waited{0};  // results that were not there when their time was over
  std::atomic<std::int64_t> wrong{0};   // results that were not the objects asked for
  std::atomic<std::int64_t> failed{0};  // without a result
};

nlohmann::json raw_counts(const RedisCounts& counts);

class RedisExecutor {
 public:
  RedisExecutor(const std::filesystem::path& socket, std::uint32_t objects,
                std::shared_ptr<RedisCounts> counts);

  // A GET or SCAN of an object that there is.
  bool accepts(const Packet& request) const noexcept;

  // Sends it; finish() it with the ticket that is answered.
  std::uint64_t begin(const Packet& request) noexcept;
  // Waits for the result if it is not there yet, and counts that.
  void finish(std::uint64_t ticket) noexcept;

  // Both, where the execution is the work.
  void execute(const Packet& request) noexcept;

 private:
  template <typename Action>
  void attempt(const Action& action) noexcept;
  void wait_for(std::uint64_t ticket);

  const std::uint32_t objects_;
  const std::shared_ptr<RedisCounts> counts_;
  RedisConnection connection_;
};

}  // namespace turntable::netclone
