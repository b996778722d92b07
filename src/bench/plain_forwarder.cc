// plain-forwarder: the yardstick of the switch. Forwards frames between interfaces by destination
// address, with packet sockets and nothing else: no pipeline, no tables, no counters.
//
//   plain-forwarder --port veth1 --port veth2 --forward 02:00:00:00:00:01=veth1 ...
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <deque>
#include <iostream>
#include <unordered_map>

#include "common/errno_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "common/unique_fd.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

namespace turntable::bench {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kFrameBytes = 2048;
constexpr int kBufferBytes = 16 << 20;

std::uint64_t mac_of(const std::uint8_t* bytes) {
  std::uint64_t mac = 0;
  std::memcpy(&mac, bytes, 6);
  return mac;
}

std::uint64_t parse_mac(const std::string& text) {
  std::array<std::uint8_t, 6> bytes{};
  if (std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &bytes[0], &bytes[1],
                  &bytes[2], &bytes[3], &bytes[4], &bytes[5]) != 6)
    throw std::runtime_error("\"" + text + "\" is not a MAC address");
  return mac_of(bytes.data());
}

// Messages of one recvmmsg or sendmmsg call.
struct Messages {
  std::array<iovec, kBatch> vectors{};
  std::array<mmsghdr, kBatch> headers{};
  std::size_t count = 0;

  Messages() {
    for (std::size_t i = 0; i < kBatch; ++i) {
      headers[i].msg_hdr.msg_iov = &vectors[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
};

struct Port {
  std::string interface;
  UniqueFd socket;
  Messages out;

  explicit Port(const std::string& name) : interface(name) {
    const unsigned index = ::if_nametoindex(name.c_str());
    if (index == 0) throw std::runtime_error("there is no interface " + name);
    socket.reset(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    if (!socket) throw errno_error("cannot create a packet socket");
    const int on = 1;
    ::setsockopt(socket.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
    ::setsockopt(socket.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof(int));
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kBufferBytes, sizeof(int));
    packet_mreq promiscuous{static_cast<int>(index), PACKET_MR_PROMISC, 0, {}};
    ::setsockopt(socket.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
                 sizeof(promiscuous));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(index);
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      throw errno_error("cannot bind to " + name);
  }

  void append(void* data, std::size_t length) {
    out.vectors[out.count] = {data, length};
    if (++out.count == kBatch) flush();
  }

  void flush() {
    for (std::size_t sent = 0; sent < out.count;) {
      const int n =
          ::sendmmsg(socket.get(), &out.headers[sent], static_cast<unsigned>(out.count - sent), 0);
      sent += n > 0 ? static_cast<std::size_t>(n) : 1;  // an error loses one frame
    }
    out.count = 0;
  }
};

class Forwarder {
 public:
  Forwarder(const std::vector<std::string>& interfaces, const std::vector<std::string>& rules) {
    for (std::size_t i = 0; i < kBatch; ++i) in_.vectors[i] = {buffers_[i].data(), kFrameBytes};
    for (const std::string& interface : interfaces) {
      ports_.emplace_back(interface);
      polled_.push_back({ports_.back().socket.get(), POLLIN, 0});
    }
    for (const std::string& rule : rules) add_rule(rule);
  }

  [[noreturn]] void run() {
    while (true) {
      ::poll(polled_.data(), polled_.size(), -1);
      for (std::size_t i = 0; i < ports_.size(); ++i) {
        if (polled_[i].revents != 0) forward_batch(ports_[i]);
      }
    }
  }

 private:
  void add_rule(const std::string& rule) {
    const std::string interface = rule.substr(rule.find('=') + 1);
    for (Port& port : ports_) {
      if (port.interface == interface) port_of_[parse_mac(rule)] = &port;
    }
  }

  void forward_batch(Port& from) {
    const int received =
        ::recvmmsg(from.socket.get(), in_.headers.data(), kBatch, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < received; ++i) {
      auto& buffer = buffers_[static_cast<std::size_t>(i)];
      const auto to = port_of_.find(mac_of(buffer.data()));
      if (to != port_of_.end())
        to->second->append(buffer.data(), in_.headers[static_cast<std::size_t>(i)].msg_len);
    }
    for (Port& port : ports_) port.flush();
  }

  std::deque<Port> ports_;
  std::vector<pollfd> polled_;
  std::unordered_map<std::uint64_t, Port*> port_of_;
  std::array<std::array<std::uint8_t, kFrameBytes>, kBatch> buffers_{};
  Messages in_;
};

}  // namespace
}  // namespace turntable::bench

namespace {

int run_program(int argc, char** argv) {
  std::vector<std::string> ports;
  std::vector<std::string> rules;
  turntable::ProgramOptions app("plain-forwarder",
                                "Forwards frames between interfaces by destination address");
  app.option("--port", ports, "Interface; repeatable").required();
  app.option("--forward", rules, "MAC=INTERFACE; repeatable").required();
  if (const auto status = app.parse(argc, argv)) return *status;
  auto forwarder = std::make_unique<turntable::bench::Forwarder>(ports, rules);
  std::cout << "ready" << std::endl;
  forwarder->run();
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("plain-forwarder", [&] { return run_program(argc, argv); });
}
