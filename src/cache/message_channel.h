// Messages over one TCP connection.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/event_loop.h"
#include "cache/messages.h"
#include "common/unique_fd.h"

namespace turntable::cache {

// Lives on the loop's thread.
class MessageChannel {
 public:
  using OnMessage = std::function<void(const Message&)>;
  using OnClosed = std::function<void(const std::string& why)>;

  // `socket` is connected, or connecting. Either callback may destroy the channel. on_closed is
  // called at most once, and not by send() itself.
  MessageChannel(EventLoop& loop, UniqueFd socket, OnMessage on_message, OnClosed on_closed);
  ~MessageChannel();
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;

  void send(const Message& message);

 private:
  void ready(short events);
  bool receive();
  void flush();
  void fail(const std::string& why);

  EventLoop& loop_;
  UniqueFd socket_;
  OnMessage on_message_;
  OnClosed on_closed_;
  MessageReader reader_;
  std::vector<std::uint8_t> unsent_;
  std::size_t sent_ = 0;  // of unsent_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// "10.0.0.1" and a port; throws CommandError (bad_argument).
sockaddr_in tcp_address(const std::string& address, std::uint16_t port);
std::string text_of(const sockaddr_in& address);

}  // namespace turntable::cache
