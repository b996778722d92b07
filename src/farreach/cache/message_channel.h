// Messages over one TCP connection, once both ends have proven themselves (net/handshake.h).
#pragma once

#include <netinet/in.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "farreach/cache/messages.h"
#include "net/event_loop.h"
#include "net/handshake.h"

namespace turntable::cache {

// Lives on the loop's thread.
class MessageChannel {
 public:
  using OnMessage = std::function<void(const Message&)>;
  using OnClosed = std::function<void(const std::string& why)>;

  // `socket` is connected, or connecting; `handshake` has `first` to send. Either callback may
  // destroy the channel. on_closed is called at most once, and not by send() itself.
  MessageChannel(net::EventLoop& loop, UniqueFd socket, std::unique_ptr<net::Handshake> handshake,
                 net::Handshake::Bytes first, OnMessage on_message, OnClosed on_closed);
  ~MessageChannel();
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;

  // Goes out when the other end has proven itself.
  void send(const Message& message);

  bool is_proven() const { return handshake_->is_done(); }
  bool has_spoken() const { return has_spoken_; }  // anything has come

 private:
  void ready(short events);
  bool receive();
  void read_messages(std::span<const std::uint8_t> bytes);
  void prove(std::span<const std::uint8_t> bytes);
  void flush();
  void fail(const std::string& why);

  net::EventLoop& loop_;
  UniqueFd socket_;
  std::unique_ptr<net::Handshake> handshake_;
  bool has_spoken_ = false;
  net::Handshake::Bytes unproven_;         // received, and not yet enough for the handshake
  std::vector<std::uint8_t> after_proof_;  // messages that wait for the handshake
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
