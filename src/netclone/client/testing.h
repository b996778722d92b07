// Servers that tests play, on loopback.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/datagrams.h"
#include "net/udp.h"
#include "netclone/packet.h"

namespace turntable::netclone::testing {

inline std::unique_ptr<net::Datagrams> open_loopback() {
  return net::open_datagrams({.local = net::parse_ipv4("test", "127.0.0.1", 0)});
}

// Answers as `answer` says, on a thread of its own: it changes the packet that came and says how
// often it is sent back.
class FakeServer {
 public:
  using Answer = std::function<int(Packet& packet)>;

  explicit FakeServer(
      std::uint32_t index, Answer answer = [](Packet&) { return 1; })
      : index_(index),
        answer_(std::move(answer)),
        datagrams_(open_loopback()),
        address_(datagrams_->local()),
        thread_([this] { serve(); }) {}
  ~FakeServer() {
    stopping_ = true;
    thread_.join();
  }

  const sockaddr_in& address() const { return address_; }
  std::vector<Packet> requests() {  // after the last
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (!stopping_) {
      pollfd polled{datagrams_->fd(), POLLIN, 0};
      ::poll(&polled, 1, 5);
      for (int i = 0, count = datagrams_->receive(); i < count; ++i)
        handle(datagrams_->at(static_cast<std::size_t>(i)));
    }
  }

  void handle(const net::Datagrams::Received& datagram) {
    Packet packet;
    ASSERT_EQ(decode(datagram.bytes, packet), DecodeStatus::kOk);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(packet);
    }
    packet.op = Op::kResponse;
    packet.server = index_;
    for (int times = answer_(packet); times > 0; --times)
      datagrams_->add(encode(packet, datagrams_->buffer()), &datagram.from);
    datagrams_->flush([](std::uint32_t, int) {});
  }

  const std::uint32_t index_;
  const Answer answer_;
  std::unique_ptr<net::Datagrams> datagrams_;
  const sockaddr_in address_;
  std::mutex mutex_;
  std::vector<Packet> requests_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace turntable::netclone::testing
