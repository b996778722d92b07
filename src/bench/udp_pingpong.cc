// udp-pingpong: a closed-loop load over UDP.
//
//   udp-pingpong server --address 198.18.0.2 --udp-port 7000           echoes until it is ended
//   udp-pingpong client --address 198.18.0.2 --udp-port 7000 --outstanding 256 --flows 8 --seconds
//   3
//
// The client keeps `outstanding` requests under way, spread evenly over `flows` sockets (source
// ports): every answer releases the next request of its flow. A flow that hears nothing for
// `timeout-ms` counts what it waits for as lost and sends anew; what is unanswered after the end is
// lost too, so `lost` is 0 only if nothing was. Prints one JSON object: pairs answered in the
// window, the window's length in seconds, their quotient, pairs in all (with warm-up and end),
// requests lost.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_line.h"
#include "common/errno_error.h"
#include "common/run_main.h"
#include "common/unique_fd.h"

namespace turntable::bench {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kMaxPayload = 1472;
constexpr int kBufferBytes = 8 << 20;

struct Options {
  std::string address;
  std::uint16_t udp_port = 7000;
  unsigned outstanding = 256;
  unsigned flows = 8;
  double warmup_s = 0.5;
  double seconds = 3;
  int timeout_ms = 200;
  std::size_t payload_bytes = 64;
  std::size_t mark_offset = 0;  // where the client keeps bytes that the server has to give back
  std::size_t mark_bytes = 8;
  std::string prefix_hex;  // first bytes of every datagram sent, for programs that look into them
};

// Bytes of a hexadecimal text.
std::vector<std::uint8_t> prefix_of(const Options& options) {
  const std::string& hex = options.prefix_hex;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  if (bytes.size() > kMaxPayload) throw std::runtime_error("--prefix-hex is too long");
  return bytes;
}

sockaddr_in address_of(const Options& options) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.udp_port);
  if (::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error("\"" + options.address + "\" is not an IPv4 address");
  return address;
}

UniqueFd udp_socket() {
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) throw errno_error("cannot create a UDP socket");
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof(int));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kBufferBytes, sizeof(int));
  return fd;
}

// A batch of datagrams that is received and, with the same contents, sent.
struct Batch {
  std::array<std::array<std::uint8_t, kMaxPayload>, kBatch> payloads{};
  std::array<sockaddr_in, kBatch> peers{};
  std::array<iovec, kBatch> vectors{};
  std::array<mmsghdr, kBatch> messages{};

  int receive(int fd, bool with_peers) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      vectors[i] = {payloads[i].data(), kMaxPayload};
      messages[i].msg_hdr = {};
      messages[i].msg_hdr.msg_iov = &vectors[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      if (with_peers) {
        messages[i].msg_hdr.msg_name = &peers[i];
        messages[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
      }
    }
    return ::recvmmsg(fd, messages.data(), kBatch, MSG_DONTWAIT, nullptr);
  }

  void send(int fd, unsigned count) {
    for (unsigned sent = 0; sent < count;) {
      const int n = ::sendmmsg(fd, &messages[sent], count - sent, 0);
      sent += n > 0 ? static_cast<unsigned>(n) : 1U;  // a datagram that cannot be sent is lost
    }
  }
};

[[noreturn]] void run_server(const Options& options) {
  const sockaddr_in address = address_of(options);
  const UniqueFd socket = udp_socket();
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw errno_error("cannot bind to " + options.address);
  std::cout << "ready" << std::endl;
  const auto batch = std::make_unique<Batch>();
  const std::vector<std::uint8_t> prefix = prefix_of(options);
  pollfd polled{socket.get(), POLLIN, 0};
  while (true) {
    ::poll(&polled, 1, -1);
    const int received = batch->receive(socket.get(), true);
    for (int i = 0; i < received; ++i) {
      const auto index = static_cast<std::size_t>(i);
      batch->vectors[index].iov_len = batch->messages[index].msg_len;
      std::copy(prefix.begin(), prefix.end(), batch->payloads[index].begin());
    }
    if (received > 0) batch->send(socket.get(), static_cast<unsigned>(received));
  }
}

class Client {
 public:
  explicit Client(const Options& options)
      : options_(options), prefix_(prefix_of(options)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    const sockaddr_in address = address_of(options);
    for (unsigned i = 0; i < options.flows; ++i) {
      Flow& flow = flows_.emplace_back();
      flow.socket = udp_socket();
      flow.quota = options.outstanding / options.flows + (i < options.outstanding % options.flows);
      const auto* target = reinterpret_cast<const sockaddr*>(&address);
      if (::connect(flow.socket.get(), target, sizeof(address)) != 0)
        throw errno_error("cannot reach " + options.address);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &flow;
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, flow.socket.get(), &event);
    }
  }

  nlohmann::json run() {
    for (Flow& flow : flows_) {
      flow.heard_ns = monotonic_ns();
      send_requests(flow, flow.quota);
    }
    run_for(options_.warmup_s);
    const std::uint64_t before = pairs_;
    const double seconds = run_for(options_.seconds);
    const std::uint64_t pairs = pairs_ - before;
    drain();
    return {{"pairs", pairs},
            {"pairs_in_all", pairs_},
            {"seconds", seconds},
            {"pairs_per_s", static_cast<double>(pairs) / seconds},
            {"lost", lost_}};
  }

 private:
  struct Flow {
    UniqueFd socket;
    unsigned quota = 0;
    unsigned in_flight = 0;
    std::int64_t heard_ns = 0;
    std::uint64_t epoch = 0;  // answers to requests that were given up carry an older one
  };

  double run_for(double seconds) {
    const std::int64_t begin = monotonic_ns();
    const std::int64_t end = begin + static_cast<std::int64_t>(seconds * 1e9);
    std::int64_t now = begin;
    for (; now < end; now = monotonic_ns()) {
      answer_ready(options_.timeout_ms);
      if (now - checked_ns_ > timeout_ns()) give_up_lost(now);
    }
    return static_cast<double>(now - begin) * 1e-9;
  }

  // Waits for the answers that are still under way; what does not come within the time-out is lost.
  void drain() {
    draining_ = true;
    while (answer_ready(options_.timeout_ms) > 0) continue;
    for (const Flow& flow : flows_) lost_ += flow.in_flight;
  }

  int answer_ready(int timeout_ms) {
    std::array<epoll_event, kBatch> events;
    const int ready = ::epoll_wait(epoll_.get(), events.data(), kBatch, timeout_ms);
    for (int i = 0; i < ready; ++i)
      answer(*static_cast<Flow*>(events[static_cast<std::size_t>(i)].data.ptr));
    return ready;
  }

  std::int64_t timeout_ns() const { return std::int64_t{options_.timeout_ms} * 1'000'000; }

  void answer(Flow& flow) {
    const int received = batch_.receive(flow.socket.get(), false);
    if (received <= 0) return;
    flow.heard_ns = monotonic_ns();
    unsigned current = 0;
    for (int i = 0; i < received; ++i) {
      std::uint64_t epoch = 0;
      const auto& payload = batch_.payloads[static_cast<std::size_t>(i)];
      std::memcpy(&epoch, payload.data() + options_.mark_offset, options_.mark_bytes);
      current += epoch == flow.epoch;
    }
    pairs_ += current;
    flow.in_flight -= current;
    if (!draining_) send_requests(flow, current);
  }

  void send_requests(Flow& flow, unsigned count) {
    flow.in_flight += count;
    while (count > 0) {
      const unsigned now = std::min<unsigned>(count, kBatch);
      for (std::size_t i = 0; i < now; ++i) {
        auto& payload = batch_.payloads[i];
        std::copy(prefix_.begin(), prefix_.end(), payload.begin());
        std::memcpy(payload.data() + options_.mark_offset, &flow.epoch, options_.mark_bytes);
        batch_.vectors[i] = {batch_.payloads[i].data(), options_.payload_bytes};
        batch_.messages[i].msg_hdr = {};
        batch_.messages[i].msg_hdr.msg_iov = &batch_.vectors[i];
        batch_.messages[i].msg_hdr.msg_iovlen = 1;
      }
      batch_.send(flow.socket.get(), now);
      count -= now;
    }
  }

  void give_up_lost(std::int64_t now) {
    checked_ns_ = now;
    for (Flow& flow : flows_) {
      if (now - flow.heard_ns < timeout_ns()) continue;
      lost_ += flow.in_flight;
      flow.in_flight = 0;
      flow.heard_ns = now;
      ++flow.epoch;
      send_requests(flow, flow.quota);
    }
  }

  Options options_;
  std::vector<std::uint8_t> prefix_;
  UniqueFd epoll_;
  std::deque<Flow> flows_;
  Batch batch_;
  std::int64_t checked_ns_ = monotonic_ns();
  std::uint64_t pairs_ = 0;
  std::uint64_t lost_ = 0;
  bool draining_ = false;
};

}  // namespace
}  // namespace turntable::bench

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::bench;
  Options options;
  turntable::CommandLine app("udp-pingpong", "Closed-loop load over UDP");
  app.require_subcommand(1);
  const auto common = [&](const char* name, const char* text) {
    CLI::App* command = app.add_subcommand(name, text);
    command->add_option("--address", options.address)->required();
    command->add_option("--udp-port", options.udp_port)->capture_default_str();
    command->add_option("--prefix-hex", options.prefix_hex, "First bytes of every datagram sent");
    return command;
  };
  const CLI::App* server = common("server", "Echo every datagram");
  CLI::App* client = common("client", "Keep requests outstanding and count the answers");
  client->add_option("--outstanding", options.outstanding)->check(CLI::Range(1, 100000));
  client->add_option("--flows", options.flows)->check(CLI::Range(1, 1000));
  client->add_option("--warmup", options.warmup_s, "Seconds");
  client->add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  client->add_option("--timeout-ms", options.timeout_ms)->check(CLI::PositiveNumber);
  client->add_option("--mark-offset", options.mark_offset)->check(CLI::Range(0, 1464));
  client->add_option("--mark-bytes", options.mark_bytes, "Its lowest bytes come first")
      ->check(CLI::Range(1, 8));
  client->add_option("--payload-bytes", options.payload_bytes)->check(CLI::Range(8, 1472));
  CLI11_PARSE(app, argc, argv);
  if (server->parsed()) run_server(options);
  std::cout << std::make_unique<Client>(options)->run().dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("udp-pingpong", [&] { return run_program(argc, argv); });
}
