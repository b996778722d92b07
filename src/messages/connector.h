// The connecting end of connections between nodes of a run: keeps one. While nobody listens, after
// it broke, or when the other side has not proven itself in time, it tries again a little later.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <memory>

#include "messages/channel.h"

namespace turntable::messages {

// Lives on the loop's thread.
class Connector {
 public:
  // Tries from the constructor on. `on_connecting` is called for each connection that is tried:
  // what it sends goes out when the other side has proven itself. `on_lost` is called when that
  // connection is of no more use, and may be called for one that was never made.
  Connector(net::EventLoop& loop, const sockaddr_in& to, net::Credentials credentials,
            std::function<void()> on_connecting, Channel::OnFrame on_frame,
            std::function<void()> on_lost);
  ~Connector() { cancel_timers(); }
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Whether there is a connection, proven or not; without one send() does nothing.
  bool has_connection() const { return channel_ != nullptr; }

  template <Message M>
  void send(const M& message) {
    if (channel_) channel_->send(message);
  }

  // Gives this connection up; another one is tried a little later.
  void lose();

 private:
  void connect();
  void cancel_timers();

  net::EventLoop& loop_;
  const sockaddr_in to_;
  const net::Credentials credentials_;
  std::function<void()> on_connecting_;
  Channel::OnFrame on_frame_;
  std::function<void()> on_lost_;
  std::unique_ptr<Channel> channel_;
  net::Timers::TimerId retry_ = 0;
  net::Timers::TimerId give_up_ = 0;  // the connection, unless it is proven by then
};

}  // namespace turntable::messages
