// The two ends of tests of datagrams. The one under test has any means; the other is a plain
// socket: at the loopback interface, or for AF_XDP at the other end of a veth pair, in a network
// namespace of its own (needs root).
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/unique_fd.h"
#include "net/datagrams.h"
#include "node/testing.h"

namespace turntable::net::testing {

inline constexpr int kArrivesWithinMs = 20'000;

inline void shell(const std::string& command) {
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

inline UniqueFd this_network_namespace() {
  return UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
}

// What is between the two ends.
struct Means {
  const char* name;
  DatagramKind kind;
  bool checksum_offload;  // of the other end
};

inline sockaddr_in address_in(const char* address) {
  sockaddr_in parsed{};
  parsed.sin_family = AF_INET;
  ::inet_pton(AF_INET, address, &parsed.sin_addr);
  return parsed;
}

// A veth pair between two namespaces. It stays until the end of the test program: so do AF_XDP's
// interfaces.
class Wire {
 public:
  explicit Wire(bool checksum_offload) {
    EXPECT_EQ(::unshare(CLONE_NEWNET), 0);
    there = this_network_namespace();
    EXPECT_EQ(::unshare(CLONE_NEWNET), 0);
    here = this_network_namespace();
    const std::string other =
        "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(there.get());
    const std::string offload = checksum_offload ? "on" : "off";
    shell(
        "ip link add data type veth peer name peer && ip address add 198.18.0.1/24 dev data &&"
        " ip link set data up && ip link set peer netns " +
        other);
    EXPECT_EQ(::setns(there.get(), CLONE_NEWNET), 0);
    shell("ip link set lo up && ip address add 198.18.0.2/24 dev peer && ethtool -K peer tx " +
          offload + " >/dev/null && ip link set peer up");
    EXPECT_EQ(::setns(here.get(), CLONE_NEWNET), 0);
    const auto is_up = [] { return std::system("ip link show data | grep -q 'state UP'") == 0; };
    EXPECT_TRUE(node::testing::eventually(is_up));
  }

  UniqueFd here;
  UniqueFd there;
};

// There is one of each kind.
inline const Wire& wire(bool checksum_offload) {
  static std::map<bool, Wire> wires;
  return wires.try_emplace(checksum_offload, checksum_offload).first->second;
}

// Runs `make` in the network namespace of the other end.
template <typename Make>
auto at_other_end(const Wire* wire, Make make) {
  const auto enter = [&](const UniqueFd& end) { EXPECT_EQ(::setns(end.get(), CLONE_NEWNET), 0); };
  if (wire != nullptr) enter(wire->there);
  auto made = make();
  if (wire != nullptr) enter(wire->here);
  return made;
}

inline bool readable(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, kArrivesWithinMs) == 1;
}

// A socket that says of a datagram with which type of service it came.
class Peer {
 public:
  explicit Peer(const Wire* wire)
      : fd_(at_other_end(wire, [] { return UniqueFd(::socket(AF_INET, SOCK_DGRAM, 0)); })) {
    const sockaddr_in address = address_in(wire == nullptr ? "127.0.0.1" : "198.18.0.2");
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

inline void add(Datagrams& datagrams, const std::string& text, const sockaddr_in* to,
                std::uint8_t dscp = 0, std::uint32_t tag = 0) {
  std::memcpy(datagrams.buffer().data(), text.data(), text.size());
  datagrams.add(text.size(), to, dscp, tag);
}

inline std::string text(const Datagrams::Received& received) {
  return {received.bytes.begin(), received.bytes.end()};
}

inline constexpr auto kNoneFails = [](std::uint32_t tag, int error) {
  ADD_FAILURE() << "datagram " << tag << ": " << std::strerror(error);
};

// All that arrives until there are `count`.
inline std::vector<std::string> receive(Datagrams& datagrams, std::size_t count) {
  std::vector<std::string> texts;
  while (texts.size() < count && readable(datagrams.fd())) {
    const int arrived = datagrams.receive();
    for (int i = 0; i < arrived; ++i) texts.push_back(text(datagrams.at(i)));
  }
  return texts;
}

class DatagramsTest : public ::testing::TestWithParam<Means> {
 protected:
  void SetUp() override {
    if (GetParam().kind == DatagramKind::kSockets) return;
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it makes network namespaces";
    static std::map<bool, Wire> wires;
    before_ = this_network_namespace();
    wire_ =
        &wires.try_emplace(GetParam().checksum_offload, GetParam().checksum_offload).first->second;
    ASSERT_EQ(::setns(wire_->here.get(), CLONE_NEWNET), 0);
  }
  void TearDown() override {
    if (!before_) return;
    EXPECT_EQ(::setns(before_.get(), CLONE_NEWNET), 0);
  }

  // Of the end under test, any free port.
  DatagramSettings settings() const {
    return {.kind = GetParam().kind,
            .interface = "data",
            .local = address_in(wire_ == nullptr ? "127.0.0.1" : "198.18.0.1")};
  }
  DatagramSettings connected_to(const Peer& peer) const {
    DatagramSettings settings = this->settings();
    settings.remote = peer.address();
    return settings;
  }
  Peer peer() const { return Peer(wire_); }

  const Wire* wire_ = nullptr;

 private:
  UniqueFd before_;
};

}  // namespace turntable::net::testing
