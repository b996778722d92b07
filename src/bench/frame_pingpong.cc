// frame-pingpong: a client and a server host in one thread, for measurements of what lies between
// them. They cost a fraction of what two hosts with UDP sockets do.
//
//   frame-pingpong --client-namespace /run/netns/a --server-namespace /run/netns/b --interface data
//                  --client 02:00:00:00:00:01,198.18.0.1 --server 02:00:00:00:00:02,198.18.0.2 ...
//
// Closed loop: `outstanding` requests are under way, from `flows` UDP ports. The server host sends
// every request that arrives back, addresses exchanged and with the first bytes of an answer. An
// answer that carries the mark of a request under way, to its port, counts as a pair and releases
// the next request; nothing is sent twice. Frames are sent through AF_XDP and received from
// rings of packet sockets. The interfaces must have other link addresses than the hosts: their own
// IP stack then leaves the frames alone.
//
// Prints one JSON object: pairs answered in the window, the window's length in seconds, their
// quotient, pairs in all (with warm-up and end), requests that were never answered ("lost"), frames
// that answer none ("strange"), processor time of the hosts in seconds in all.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "bench/xdp_sender.h"
#include "common/clock.h"
#include "common/errno_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "common/unique_fd.h"
#include "dataplane/checksum.h"
#include "softswitch/packet_ring.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23  // since Linux 4.20
#endif

namespace turntable::bench {
namespace {

using softswitch::PacketRing;

constexpr std::size_t kBatch = 64;
constexpr std::size_t kRingSlots = 2048;
constexpr std::size_t kMaxFrame = 1518;
constexpr std::uint16_t kFirstPort = 40000;  // of the client's flows
// Where fields of a frame are.
constexpr std::size_t kSourceMac = 6;
constexpr std::size_t kEtherType = 12;
constexpr std::size_t kIp = sizeof(ether_header);
constexpr std::size_t kIpProtocol = kIp + 9;
constexpr std::size_t kSourceIp = kIp + 12;
constexpr std::size_t kTargetIp = kIp + 16;
constexpr std::size_t kSourcePort = kIp + sizeof(iphdr);
constexpr std::size_t kTargetPort = kSourcePort + 2;
constexpr std::size_t kUdpLength = kSourcePort + 4;
constexpr std::size_t kUdpChecksum = kSourcePort + 6;
constexpr std::size_t kHeaders = sizeof(ether_header) + sizeof(iphdr) + sizeof(udphdr);

using Mark = std::uint32_t;  // low half: the request's index; high half: how often it was sent

struct Options {
  std::string client_namespace;
  std::string server_namespace;
  std::string interface;
  std::string client;  // MAC,ADDRESS
  std::string server;
  std::uint16_t udp_port = 7000;
  std::string request_hex;  // first bytes of every request, and of every answer
  std::string answer_hex;
  std::size_t payload_bytes = 64;
  std::size_t mark_offset = 8;  // into the payload
  unsigned outstanding = 256;
  unsigned flows = 8;
  double warmup_s = 0.5;
  double seconds = 1;
  int timeout_ms = 1000;
};

std::vector<std::uint8_t> bytes_of_hex(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

struct Address {
  std::array<std::uint8_t, ETH_ALEN> mac{};
  in_addr ip{};

  explicit Address(const std::string& text) {
    const std::string mac_text = text.substr(0, text.find(','));
    const std::string ip_text = text.substr(std::min(mac_text.size() + 1, text.size()));
    if (std::sscanf(mac_text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0], &mac[1],
                    &mac[2], &mac[3], &mac[4], &mac[5]) != 6 ||
        ::inet_pton(AF_INET, ip_text.c_str(), &ip) != 1)
      throw std::runtime_error("\"" + text + "\": expected MAC,ADDRESS");
  }
};

// A request of one flow, without its mark. UDP without a checksum, as IPv4 allows.
std::vector<std::uint8_t> request_frame(const Options& options, unsigned flow) {
  const Address client(options.client);
  const Address server(options.server);
  std::vector<std::uint8_t> frame(kHeaders + options.payload_bytes);
  ether_header ethernet{};
  std::copy(server.mac.begin(), server.mac.end(), ethernet.ether_dhost);
  std::copy(client.mac.begin(), client.mac.end(), ethernet.ether_shost);
  ethernet.ether_type = htons(ETHERTYPE_IP);
  iphdr ip{};
  ip.version = IPVERSION;
  ip.ihl = sizeof(iphdr) / 4;
  ip.tot_len = htons(static_cast<std::uint16_t>(frame.size() - sizeof(ethernet)));
  ip.ttl = IPDEFTTL;
  ip.protocol = IPPROTO_UDP;
  ip.saddr = client.ip.s_addr;
  ip.daddr = server.ip.s_addr;
  ip.check =
      htons(dataplane::Checksum::compute({reinterpret_cast<const std::uint8_t*>(&ip), sizeof(ip)}));
  udphdr udp{};
  udp.source = htons(static_cast<std::uint16_t>(kFirstPort + flow));
  udp.dest = htons(options.udp_port);
  udp.len = htons(static_cast<std::uint16_t>(sizeof(udp) + options.payload_bytes));
  std::memcpy(frame.data(), &ethernet, sizeof(ethernet));
  std::memcpy(frame.data() + sizeof(ethernet), &ip, sizeof(ip));
  std::memcpy(frame.data() + sizeof(ethernet) + sizeof(ip), &udp, sizeof(udp));
  const auto prefix = bytes_of_hex(options.request_hex);
  std::copy(prefix.begin(), prefix.end(), frame.begin() + kHeaders);
  return frame;
}

bool is_udp(std::span<const std::uint8_t> frame) {
  constexpr std::uint8_t kVersionAndLength = 0x45;
  return frame.size() >= kHeaders && frame[kEtherType] == 0x08 && frame[kEtherType + 1] == 0 &&
         frame[kIp] == kVersionAndLength && frame[kIpProtocol] == IPPROTO_UDP;
}

// An interface of another namespace.
class Wire {
 public:
  Wire(const std::string& namespace_file, const std::string& interface) {
    enter(namespace_file);
    receiver_.reset(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    const auto index = static_cast<int>(::if_nametoindex(interface.c_str()));
    if (!receiver_ || index == 0)
      throw errno_error("no packet socket on " + interface + " of " + namespace_file);
    const int on = 1;
    ::setsockopt(receiver_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
    packet_mreq promiscuous{index, PACKET_MR_PROMISC, 0, {}};
    ::setsockopt(receiver_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
                 sizeof(promiscuous));
    ring_.emplace(receiver_.get(), kRingSlots, kMaxFrame);
    sender_.emplace(interface);
    bind(receiver_.get(), index);
  }

  int fd() const { return receiver_.get(); }
  PacketRing& ring() { return *ring_; }
  XdpSender& sender() { return *sender_; }

 private:
  static void enter(const std::string& namespace_file) {
    const UniqueFd file(::open(namespace_file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::setns(file.get(), CLONE_NEWNET) != 0)
      throw errno_error("cannot enter network namespace " + namespace_file);
  }
  static void bind(int socket, int index) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = index;
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw errno_error("cannot bind a packet socket");
  }

  UniqueFd receiver_;
  std::optional<PacketRing> ring_;
  std::optional<XdpSender> sender_;
};

class Hosts {
 public:
  explicit Hosts(const Options& options)
      : options_(options),
        answer_(bytes_of_hex(options.answer_hex)),
        client_(options.client_namespace, options.interface),
        server_(options.server_namespace, options.interface) {
    for (unsigned i = 0; i < options.outstanding; ++i) {
      requests_.push_back({request_frame(options, i % options.flows), i, false});
    }
  }

  nlohmann::json run() {
    for (Request& request : requests_) send(request);
    client_.sender().flush();
    run_for(options_.warmup_s);
    const std::uint64_t before = pairs_;
    const double seconds = run_for(options_.seconds);
    const std::uint64_t pairs = pairs_ - before;
    draining_ = true;
    while (under_way_ > 0 && work()) continue;
    return {{"pairs", pairs},
            {"pairs_in_all", pairs_},
            {"seconds", seconds},
            {"pairs_per_s", static_cast<double>(pairs) / seconds},
            {"lost", under_way_},
            {"strange", strange_},
            {"cpu_s", static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9}};
  }

 private:
  struct Request {
    std::vector<std::uint8_t> frame;
    Mark mark;
    bool under_way;
  };

  double run_for(double seconds) {
    const std::int64_t begin = monotonic_ns();
    const std::int64_t end = begin + static_cast<std::int64_t>(seconds * 1e9);
    std::int64_t now = begin;
    for (; now < end; now = monotonic_ns()) work();
    return static_cast<double>(now - begin) * 1e-9;
  }

  // False: nothing arrived within the time-out.
  bool work() {
    const bool served = serve();
    const bool heard = hear();
    if (served || heard) return true;
    std::array<pollfd, 2> polled{{{client_.fd(), POLLIN, 0}, {server_.fd(), POLLIN, 0}}};
    return ::poll(polled.data(), polled.size(), options_.timeout_ms) != 0;
  }

  // The server host: every request goes back.
  bool serve() {
    PacketRing& ring = server_.ring();
    std::size_t count = 0;
    for (; count < kBatch; ++count) {
      tpacket2_hdr* const slot = ring.peek();
      if (slot == nullptr) break;
      const std::span frame(PacketRing::frame_of(slot), slot->tp_snaplen);
      if (turn_round(frame)) server_.sender().add(frame);
      ring.pop();
    }
    server_.sender().flush();
    return count > 0;
  }

  bool turn_round(std::span<std::uint8_t> frame) {
    if (!is_udp(frame) || frame.size() < kHeaders + answer_.size()) {
      ++strange_;
      return false;
    }
    std::uint8_t* const bytes = frame.data();
    std::swap_ranges(bytes, bytes + kSourceMac, bytes + kSourceMac);
    std::swap_ranges(bytes + kSourceIp, bytes + kTargetIp, bytes + kTargetIp);  // the sum stays
    std::swap_ranges(bytes + kSourcePort, bytes + kTargetPort, bytes + kTargetPort);
    std::fill_n(bytes + kUdpChecksum, 2, std::uint8_t{0});
    std::copy(answer_.begin(), answer_.end(), bytes + kHeaders);
    return true;
  }

  // The client host: every answer releases the next request.
  bool hear() {
    PacketRing& ring = client_.ring();
    std::size_t count = 0;
    for (; count < kBatch; ++count) {
      tpacket2_hdr* const slot = ring.peek();
      if (slot == nullptr) break;
      Request* const request = answered({PacketRing::frame_of(slot), slot->tp_snaplen});
      ring.pop();
      if (request == nullptr) {
        ++strange_;
        continue;
      }
      request->under_way = false;
      --under_way_;
      ++pairs_;
      if (!draining_) send(*request);
    }
    client_.sender().flush();
    return count > 0;
  }

  // nullptr: it answers none.
  Request* answered(std::span<const std::uint8_t> frame) {
    const std::size_t mark_at = kHeaders + options_.mark_offset;
    if (!is_udp(frame) || frame.size() < mark_at + sizeof(Mark)) return nullptr;
    Mark mark = 0;
    std::memcpy(&mark, &frame[mark_at], sizeof(mark));
    const std::size_t index = mark & 0xFFFFU;
    if (index >= requests_.size()) return nullptr;
    Request& request = requests_[index];
    const std::uint8_t* const sent = request.frame.data();
    const bool same_host = std::equal(&frame[0], &frame[kSourceMac], sent + kSourceMac);
    const bool same_port = std::equal(&frame[kTargetPort], &frame[kUdpLength], sent + kSourcePort);
    return request.under_way && request.mark == mark && same_host && same_port ? &request : nullptr;
  }

  void send(Request& request) {
    request.mark += 0x10000U;
    request.under_way = true;
    ++under_way_;
    std::memcpy(request.frame.data() + kHeaders + options_.mark_offset, &request.mark,
                sizeof(request.mark));
    client_.sender().add(request.frame);
  }

  Options options_;
  std::vector<std::uint8_t> answer_;
  Wire client_;
  Wire server_;
  std::vector<Request> requests_;
  std::uint64_t under_way_ = 0;
  std::uint64_t pairs_ = 0;
  std::uint64_t strange_ = 0;
  bool draining_ = false;
};

}  // namespace
}  // namespace turntable::bench

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::bench;
  Options options;
  turntable::ProgramOptions app("frame-pingpong", "A client and a server host with packet sockets");
  app.option("--client-namespace", options.client_namespace, "File of the client's namespace")
      .required();
  app.option("--server-namespace", options.server_namespace, "File of the server's namespace")
      .required();
  app.option("--interface", options.interface, "Name of the interface in both").required();
  app.option("--client", options.client, "MAC,ADDRESS").required();
  app.option("--server", options.server, "MAC,ADDRESS").required();
  app.option("--udp-port", options.udp_port, "UDP port of the server").shows_default();
  app.option("--request-hex", options.request_hex, "First bytes of every request");
  app.option("--answer-hex", options.answer_hex, "First bytes of every answer");
  app.option("--payload-bytes", options.payload_bytes, "Of a datagram").within(8, 1472);
  app.option("--mark-offset", options.mark_offset, "Where 4 bytes are that an answer has to have")
      .within(0, 1468);
  app.option("--outstanding", options.outstanding, "Requests at a time").within(1, 1024);
  app.option("--flows", options.flows, "UDP source ports").within(1, 1000);
  app.option("--warmup", options.warmup_s, "Seconds");
  app.option("--seconds", options.seconds, "To measure for").within(1e-6, 1e9);
  app.option("--timeout-ms", options.timeout_ms, "Until a request is lost").within(1e-6, 1e9);
  if (const auto status = app.parse(argc, argv)) return *status;
  if (options.mark_offset + sizeof(Mark) > options.payload_bytes)
    throw std::runtime_error("--payload-bytes leaves no room for the mark");
  std::cout << std::make_unique<Hosts>(options)->run().dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("frame-pingpong", [&] { return run_program(argc, argv); });
}
