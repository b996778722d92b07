// The objects of the Redis experiments, and a connection to a redis-server that holds them.
//
// Object k has the key object%010u (16 bytes), and as its value that key four times (64 bytes). GET
// reads one; SCAN reads this one and the 99 behind it by one MGET: Redis has no order of keys of
// its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "common/ring.h"
#include "netclone/packet.h"

struct redisContext;
struct redisReply;

namespace turntable::netclone {

inline constexpr std::uint32_t kScannedObjects = 100;

std::string object_key(std::uint32_t object);
std::string object_value(std::uint32_t object);

// Requests are answered in the order in which they were sent. Not thread-safe.
class RedisConnection {
 public:
  // objects: that there are; SCAN goes on at 0 behind the last one. Throws CommandError.
  RedisConnection(const std::filesystem::path& socket, std::uint32_t objects);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  // Whether somebody answers there.
  static bool answers(const std::filesystem::path& socket) noexcept;

  // Writes all objects.
  void load();

  // GET or SCAN from `object` on.
  void send(Operation operation, std::uint32_t object);
  // What send() of now will be: the number of requests sent before.
  std::uint64_t next_ticket() const noexcept { return sent_; }
  bool has_answer(std::uint64_t ticket) const noexcept { return ticket < answered_; }
  // Reads what has come, without waiting, and writes what is left to be written.
  void poll();
  // Until that answer is there, or a second is over: false.
  bool wait_for(std::uint64_t ticket);

  // Answers since the last call that were not the objects that were asked for.
  std::uint64_t take_wrong() noexcept { return std::exchange(wrong_, 0); }

 private:
  struct Request {
    Operation operation;
    std::uint32_t object;
  };

  [[noreturn]] void fail(const char* what) const;
  void send_sets(std::uint32_t first, std::uint32_t count);
  void write();
  bool is_right(const redisReply& reply, const Request& request) const;
  void take_replies();

  redisContext* context_;
  std::uint32_t objects_;
  Ring<Request> under_way_;
  bool unwritten_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t wrong_ = 0;
};

}  // namespace turntable::netclone
