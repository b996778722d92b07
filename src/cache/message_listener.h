// The listening end of the control plane's messages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "cache/message_channel.h"

namespace turntable::cache {

// Lives on the loop's thread.
class MessageListener {
 public:
  using SessionId = std::uint64_t;  // of one connection; never used again

  // Throws std::runtime_error that names the address when it cannot be bound.
  MessageListener(EventLoop& loop, const sockaddr_in& address,
                  std::function<void(SessionId, const Message&)> on_message,
                  std::function<void(SessionId)> on_closed);
  ~MessageListener();
  MessageListener(const MessageListener&) = delete;
  MessageListener& operator=(const MessageListener&) = delete;

  // To a session that has gone: nothing.
  void send(SessionId session, const Message& message);

  // Ends all connections but one, without on_closed: what they have sent and nobody has read is
  // lost.
  void keep_only(SessionId session) {
    std::erase_if(sessions_, [session](const auto& other) { return other.first != session; });
  }

  // Ends every connection, without on_closed: the others will connect again and ask again.
  void disconnect_all() { sessions_.clear(); }

  std::uint16_t port() const;  // useful after port 0 was asked for
  std::size_t sessions() const { return sessions_.size(); }
  std::uint64_t failures() const { return failures_; }  // connections that ended

 private:
  void accept();

  EventLoop& loop_;
  UniqueFd socket_;
  std::function<void(SessionId, const Message&)> on_message_;
  std::function<void(SessionId)> on_closed_;
  std::map<SessionId, std::unique_ptr<MessageChannel>> sessions_;
  SessionId next_session_ = 1;
  std::uint64_t failures_ = 0;
};

}  // namespace turntable::cache
