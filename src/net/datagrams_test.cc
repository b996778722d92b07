// Datagrams over loopback; the other end is a plain socket of this test.
#include "net/datagrams.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/unique_fd.h"

namespace turntable::net {
namespace {

constexpr int kArrivesWithinMs = 20'000;

sockaddr_in loopback(std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool readable(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, kArrivesWithinMs) == 1;
}

// A socket that says of a datagram with which type of service it came.
class Peer {
 public:
  Peer() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback();
    const int on = 1;
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::setsockopt(fd_.get(), IPPROTO_IP, IP_RECVTOS, &on, sizeof on), 0);
  }

  sockaddr_in address() const {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    return address;
  }

  void send(const sockaddr_in& to, const std::string& text) const {
    ASSERT_EQ(::sendto(fd_.get(), text.data(), text.size(), 0,
                       reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(text.size()));
  }

  struct Arrived {
    std::string text;
    int type_of_service = -1;
  };
  Arrived take() const {
    std::array<char, 4096> bytes;
    alignas(cmsghdr) std::array<char, 64> control{};
    iovec iov{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &iov;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (!readable(fd_.get())) return {};
    const ssize_t length = ::recvmsg(fd_.get(), &message, 0);
    Arrived arrived{.text = {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))}};
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
        arrived.type_of_service = *CMSG_DATA(c);
    }
    return arrived;
  }

  void close() { fd_.reset(); }

 private:
  UniqueFd fd_;
};

void add(Datagrams& datagrams, const std::string& text, const sockaddr_in* to,
         std::uint8_t dscp = 0, std::uint32_t tag = 0) {
  std::memcpy(datagrams.buffer().data(), text.data(), text.size());
  datagrams.add(text.size(), to, dscp, tag);
}

std::string text(const Datagrams::Received& received) {
  return {received.bytes.begin(), received.bytes.end()};
}

constexpr auto kNoneFails = [](std::uint32_t tag, int error) {
  ADD_FAILURE() << "datagram " << tag << ": " << std::strerror(error);
};

// All that arrives until there are `count`.
std::vector<std::string> receive(Datagrams& datagrams, std::size_t count) {
  std::vector<std::string> texts;
  while (texts.size() < count && readable(datagrams.fd())) {
    const int arrived = datagrams.receive();
    for (int i = 0; i < arrived; ++i) texts.push_back(text(datagrams.at(i)));
  }
  return texts;
}

TEST(Datagrams, AnswersGoToTheSenderOfARequest) {
  const auto server = open_datagrams({.local = loopback()});
  const Peer one, other;
  one.send(server->local(), "first");
  ASSERT_TRUE(readable(server->fd()));
  ASSERT_EQ(server->receive(), 1);
  const auto first = server->at(0);
  EXPECT_EQ(text(first), "first");
  EXPECT_EQ(first.from.sin_port, one.address().sin_port);
  EXPECT_EQ(first.from.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  add(*server, "answer", &first.from);
  const sockaddr_in elsewhere = other.address();
  add(*server, "to another", &elsewhere);
  EXPECT_EQ(server->waiting(), 2U);
  server->flush(kNoneFails);
  EXPECT_EQ(server->waiting(), 0U);
  EXPECT_EQ(one.take().text, "answer");
  EXPECT_EQ(other.take().text, "to another");
}

TEST(Datagrams, AConnectedOneTakesItsPeersOnly) {
  const Peer peer, stranger;
  const auto client = open_datagrams({.local = loopback(), .remote = peer.address()});
  stranger.send(client->local(), "from a stranger");
  peer.send(client->local(), "from the peer");
  EXPECT_EQ(receive(*client, 1), std::vector<std::string>{"from the peer"});
  EXPECT_EQ(client->receive(), 0);
  add(*client, "request", nullptr);
  client->flush(kNoneFails);
  EXPECT_EQ(peer.take().text, "request");
}

TEST(Datagrams, EachHasItsClassOfService) {
  const Peer peer;
  const sockaddr_in to = peer.address();
  for (const bool connected : {false, true}) {
    DatagramSettings settings{.local = loopback()};
    if (connected) settings.remote = to;
    const auto datagrams = open_datagrams(settings);
    for (const int dscp : {0, 46, 0, 63, 1})
      add(*datagrams, std::to_string(dscp), connected ? nullptr : &to,
          static_cast<std::uint8_t>(dscp));
    datagrams->flush(kNoneFails);
    for (const int dscp : {0, 46, 0, 63, 1}) {
      const auto arrived = peer.take();
      EXPECT_EQ(arrived.text, std::to_string(dscp));
      EXPECT_EQ(arrived.type_of_service, dscp * 4);
    }
    // What a slot had before does not stay.
    for (int i = 0; i < 5; ++i) add(*datagrams, "plain", connected ? nullptr : &to);
    datagrams->flush(kNoneFails);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(peer.take().type_of_service, 0);
  }
}

TEST(Datagrams, StampsAreTheKernels) {
  const auto server = open_datagrams({.local = loopback()});
  const Peer peer;
  const std::int64_t before = realtime_ns();
  peer.send(server->local(), "stamped");
  ASSERT_TRUE(readable(server->fd()));
  const std::int64_t arrived = realtime_ns();
  while (realtime_ns() < arrived + 1'000'000) {
  }
  ASSERT_EQ(server->receive(), 1);
  ASSERT_TRUE(server->at(0).has_stamp);
  EXPECT_GE(server->at(0).received_ns, before);
  EXPECT_LE(server->at(0).received_ns, arrived);  // not when it was read
}

TEST(Datagrams, ALongerDatagramIsSeenAsSuch) {
  const auto server = open_datagrams({.local = loopback(), .datagram_bytes = 100});
  const Peer peer;
  peer.send(server->local(), std::string(100, 'x'));
  ASSERT_TRUE(readable(server->fd()));
  ASSERT_EQ(server->receive(), 1);
  EXPECT_FALSE(server->at(0).truncated);
  peer.send(server->local(), std::string(101, 'x'));
  ASSERT_TRUE(readable(server->fd()));
  ASSERT_EQ(server->receive(), 1);
  EXPECT_TRUE(server->at(0).truncated);
}

TEST(Datagrams, ABatchIsFullAndMayLeaveInParts) {
  const Peer peer;
  const auto client =
      open_datagrams({.local = loopback(), .remote = peer.address(), .queued = 256});
  std::size_t added = 0;
  for (; !client->full(); ++added) add(*client, std::to_string(added), nullptr);
  EXPECT_EQ(added, client->capacity());
  EXPECT_EQ(client->waiting(), added);
  client->flush(2, kNoneFails);
  EXPECT_EQ(client->waiting(), added - 2);
  client->flush(kNoneFails);
  EXPECT_FALSE(client->full());
  for (std::size_t i = 0; i < added; ++i) EXPECT_EQ(peer.take().text, std::to_string(i));
}

TEST(Datagrams, WhatIsNotReadInTimeIsCounted) {
  const auto server = open_datagrams({.local = loopback(), .queued = 1});
  const Peer peer;
  EXPECT_EQ(server->drops(), 0U);
  std::uint32_t sent = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (server->drops() < 10) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    peer.send(server->local(), std::to_string(sent++));
  }
  const std::uint32_t dropped = server->drops();
  const auto kept = receive(*server, sent - dropped);
  EXPECT_EQ(kept.size(), sent - dropped);
  EXPECT_EQ(kept.front(), "0");
  EXPECT_EQ(server->receive(), 0);
}

TEST(Datagrams, APeerThatIsGoneIsAnErrorOfTheConnectedOne) {
  Peer peer;
  const auto client = open_datagrams({.local = loopback(), .remote = peer.address()});
  peer.close();
  add(*client, "to nobody", nullptr);
  client->flush(kNoneFails);
  ASSERT_TRUE(readable(client->fd()));
  EXPECT_EQ(client->receive(), -ECONNREFUSED);
  EXPECT_EQ(client->receive(), 0);
}

TEST(Datagrams, WhatTheSystemRefusesComesBackWithItsTag) {
  const Peer peer;
  const sockaddr_in good = peer.address();
  sockaddr_in unreachable = good;
  unreachable.sin_addr.s_addr = htonl(0xF0000001);  // 240.0.0.1 is reserved: no route from loopback
  const auto datagrams = open_datagrams({.local = loopback()});
  add(*datagrams, "before", &good, 0, 1);
  add(*datagrams, "refused", &unreachable, 0, 2);
  add(*datagrams, "after", &good, 0, 3);
  std::vector<std::uint32_t> failed;
  datagrams->flush([&](std::uint32_t tag, int error) {
    failed.push_back(tag);
    EXPECT_GT(error, 0);
  });
  EXPECT_EQ(failed, std::vector<std::uint32_t>{2});
  EXPECT_EQ(peer.take().text, "before");
  EXPECT_EQ(peer.take().text, "after");
  EXPECT_EQ(datagrams->waiting(), 0U);
}

TEST(Datagrams, APortThatIsTakenIsRefusedAndNamed) {
  const auto first = open_datagrams({.local = loopback()});
  try {
    open_datagrams({.local = first->local()});
    FAIL() << "opened";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(ntohs(first->local().sin_port))),
              std::string::npos);
  }
}

TEST(Datagrams, AnUnknownKindIsRefusedAndNamed) {
  EXPECT_EQ(datagram_kind("--datagrams", "sockets"), DatagramKind::kSockets);
  try {
    datagram_kind("--datagrams", "pigeons");
    FAIL() << "taken";
  } catch (const CommandError& error) {
    EXPECT_EQ(std::string(error.what()), "--datagrams is \"pigeons\"; expected sockets");
  }
}

}  // namespace
}  // namespace turntable::net
