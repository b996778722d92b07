// The messages that wait for one client's stream. A client that does not take them loses what comes
// beyond a bound, as digests are lost while the chip's learn quanta are full: nobody waits for it.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace turntable::bfrt_server {

inline constexpr std::size_t kOutboxMessages = 1024;
inline constexpr std::size_t kOutboxBytes = 8 << 20;  // or one message

// Not thread-safe.
template <typename Message>
class Outbox {
 public:
  // False: there is no room for this one, which is lost.
  bool put(Message message) {
    const std::size_t bytes = message.ByteSizeLong();
    const bool is_full = messages_.size() >= kOutboxMessages || bytes_ + bytes > kOutboxBytes;
    if (is_full && !messages_.empty()) {
      ++lost_;
      return false;
    }
    bytes_ += bytes;
    messages_.push_back(std::move(message));
    return true;
  }

  // The oldest; it stays where it is until pop(). nullptr: none.
  const Message* front() const { return messages_.empty() ? nullptr : &messages_.front(); }
  void pop() {
    bytes_ -= messages_.front().ByteSizeLong();
    messages_.pop_front();
  }

  std::uint64_t lost() const { return lost_; }

 private:
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace turntable::bfrt_server
