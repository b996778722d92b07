#include "netclone/server/redis_connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"

namespace turntable::netclone {
namespace {

constexpr std::int64_t kAnswerNs = 1'000'000'000;
constexpr std::uint32_t kLoadedAtOnce = 1000;

std::string_view text_of(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING ? std::string_view(reply.str, reply.len)
                                          : std::string_view();
}

void append(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    pointers.push_back(word.data());
    sizes.push_back(word.size());
  }
  ::redisAppendCommandArgv(context, static_cast<int>(words.size()), pointers.data(), sizes.data());
}

}  // namespace

std::string object_key(std::uint32_t object) {
  std::array<char, 17> key{};
  std::snprintf(key.data(), key.size(), "object%010u", object);
  return key.data();
}

std::string object_value(std::uint32_t object) {
  const std::string key = object_key(object);
  return key + key + key + key;
}

RedisConnection::RedisConnection(const std::filesystem::path& socket, std::uint32_t objects)
    : context_(::redisConnectUnixNonBlock(socket.c_str())), objects_(objects) {
  if (context_ != nullptr && context_->err == 0) return;
  const std::string why = context_ != nullptr ? context_->errstr : "no memory";
  ::redisFree(context_);
  throw CommandError("unavailable", "redis-server at " + socket.native() + ": " + why);
}

RedisConnection::~RedisConnection() {
  ::redisFree(context_);
}

bool RedisConnection::answers(const std::filesystem::path& socket) noexcept {
  redisContext* const context = ::redisConnectUnix(socket.c_str());
  if (context == nullptr) return false;
  auto* const reply =
      context->err == 0 ? static_cast<redisReply*>(::redisCommand(context, "PING")) : nullptr;
  const bool answers = reply != nullptr && reply->type == REDIS_REPLY_STATUS;
  if (reply != nullptr) ::freeReplyObject(reply);
  ::redisFree(context);
  return answers;
}

void RedisConnection::fail(const char* what) const {
  throw CommandError("unavailable",
                     std::string("redis-server: ") + what +
                         (context_->err != 0 ? std::string(": ") + context_->errstr : ""));
}

void RedisConnection::load() {
  for (std::uint32_t first = 0; first < objects_; first += kLoadedAtOnce) {
    send_sets(first, std::min(kLoadedAtOnce, objects_ - first));
    if (!wait_for(sent_ - 1)) fail("did not store objects within 1 s");
  }
  if (take_wrong() > 0) fail("did not store all objects");
}

void RedisConnection::send_sets(std::uint32_t first, std::uint32_t count) {
  std::vector<std::string> words = {"MSET"};
  for (std::uint32_t object = first; object < first + count; ++object) {
    words.push_back(object_key(object));
    words.push_back(object_value(object));
  }
  append(context_, words);
  under_way_.push({Operation::kWork, first});
  ++sent_;
  write();
}

void RedisConnection::send(Operation operation, std::uint32_t object) {
  if (operation == Operation::kGet) {
    append(context_, {"GET", object_key(object)});
  } else {
    std::vector<std::string> words = {"MGET"};
    for (std::uint32_t i = 0; i < kScannedObjects; ++i)
      words.push_back(object_key((object + i) % objects_));
    append(context_, words);
  }
  under_way_.push({operation, object});
  ++sent_;
  write();
}

void RedisConnection::write() {
  int done = 0;
  if (::redisBufferWrite(context_, &done) != REDIS_OK) fail("cannot be written to");
  unwritten_ = done == 0;
}

void RedisConnection::poll() {
  if (unwritten_) write();
  if (::redisBufferRead(context_) != REDIS_OK) fail("cannot be read from");
  take_replies();
}

void RedisConnection::take_replies() {
  for (;;) {
    void* taken = nullptr;
    if (::redisGetReplyFromReader(context_, &taken) != REDIS_OK) fail("answers no Redis protocol");
    if (taken == nullptr) return;
    auto* const reply = static_cast<redisReply*>(taken);
    if (!is_right(*reply, under_way_.pop())) ++wrong_;
    ::freeReplyObject(reply);
    ++answered_;
  }
}

bool RedisConnection::is_right(const redisReply& reply, const Request& request) const {
  if (request.operation == Operation::kWork) return reply.type == REDIS_REPLY_STATUS;
  if (request.operation == Operation::kGet) return text_of(reply) == object_value(request.object);
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != kScannedObjects) return false;
  for (std::uint32_t i = 0; i < kScannedObjects; ++i) {
    if (text_of(*reply.element[i]) != object_value((request.object + i) % objects_)) return false;
  }
  return true;
}

bool RedisConnection::wait_for(std::uint64_t ticket) {
  const std::int64_t deadline = monotonic_ns() + kAnswerNs;
  while (!has_answer(ticket)) {
    const std::int64_t left = deadline - monotonic_ns();
    if (left <= 0) return false;
    const auto events = static_cast<short>(unwritten_ ? POLLIN | POLLOUT : POLLIN);
    pollfd polled{context_->fd, events, 0};
    const timespec timeout = to_timespec(left);
    ::ppoll(&polled, 1, &timeout, nullptr);
    poll();
  }
  return true;
}

}  // namespace turntable::netclone
