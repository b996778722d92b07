// gap-recorder: answers rpcclients at once, and says how well the distances between its requests,
// by the kernel's stamps at their arrival, fit an exponential distribution.
//
//   gap-recorder --address 198.18.0.2 --port 2000 --gaps 1000000 --rate 1300
//
// Prints "ready", and one line of JSON when so many have arrived: the largest distance between the
// distribution of the gaps of each client and 1 - exp(-rate * gap) (Kolmogorov and Smirnov's D).
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/datagrams.h"
#include "net/udp.h"
#include "netclone/packet.h"

namespace turntable::bench {
namespace {

using netclone::Packet;

// Gaps between requests of each client; probes are answered only.
class Recorder {
 public:
  Recorder(const sockaddr_in& local, std::size_t gaps)
      : datagrams_(net::open_datagrams({.local = local, .queued = 8192})), last_ns_(kClients) {
    gaps_s_.reserve(gaps);
  }

  std::vector<double> run() {
    while (gaps_s_.size() < gaps_s_.capacity()) {
      const int count = datagrams_->receive();
      for (int i = 0; i < count; ++i) answer(datagrams_->at(static_cast<std::size_t>(i)));
      datagrams_->flush([](std::uint32_t, int) {});
      if (count > 0) continue;
      pollfd polled{datagrams_->fd(), POLLIN, 0};
      ::poll(&polled, 1, -1);
    }
    return std::move(gaps_s_);
  }

 private:
  static constexpr std::size_t kClients = 65'536;

  void answer(const net::Datagrams::Received& datagram) {
    Packet packet;
    if (netclone::decode(datagram.bytes, packet) != netclone::DecodeStatus::kOk) return;
    if (packet.operation != netclone::Operation::kProbe && datagram.has_stamp)
      note(packet.client, datagram.received_ns);
    packet.op = netclone::Op::kResponse;
    packet.server = 0;
    datagrams_->add(netclone::encode(packet, datagrams_->buffer()), &datagram.from);
  }

  void note(std::uint16_t client, std::int64_t at_ns) {
    const std::int64_t last_ns = std::exchange(last_ns_[client], at_ns);
    if (last_ns == 0 || gaps_s_.size() == gaps_s_.capacity()) return;
    gaps_s_.push_back(static_cast<double>(at_ns - last_ns) / 1e9);
  }

  std::unique_ptr<net::Datagrams> datagrams_;
  std::vector<std::int64_t> last_ns_;  // by client
  std::vector<double> gaps_s_;
};

double distance_from_exponential(std::vector<double> gaps_s, double rate_per_s) {
  std::sort(gaps_s.begin(), gaps_s.end());
  const auto count = static_cast<double>(gaps_s.size());
  double distance = 0;
  for (std::size_t i = 0; i < gaps_s.size(); ++i) {
    const double expected = -std::expm1(-rate_per_s * gaps_s[i]);
    const auto below = static_cast<double>(i);
    distance = std::max({distance, expected - below / count, (below + 1) / count - expected});
  }
  return distance;
}

int run(int argc, char** argv) {
  std::string address;
  std::uint16_t port = 0;
  std::size_t gaps = 1'000'000;
  double rate_per_s = 0;
  turntable::ProgramOptions app("gap-recorder", "Compares gaps of requests with a distribution");
  app.option("--address", address, "IPv4 address").required();
  app.option("--port", port, "UDP port").required();
  app.option("--gaps", gaps, "So many are compared").within(1, 100'000'000).shows_default();
  app.option("--rate", rate_per_s, "Requests per second of each client")
      .within(1e-6, 1e9)
      .required();
  if (const auto status = app.parse(argc, argv)) return *status;
  Recorder recorder(net::parse_ipv4("--address", address, port), gaps);
  std::cout << "ready" << std::endl;
  const std::vector<double> gaps_s = recorder.run();
  const double sum_s = std::accumulate(gaps_s.begin(), gaps_s.end(), 0.0);
  std::cout << nlohmann::json{{"gaps", gaps_s.size()},
                              {"mean_us", sum_s * 1e6 / static_cast<double>(gaps_s.size())},
                              {"distance", distance_from_exponential(gaps_s, rate_per_s)}}
                   .dump()
            << std::endl;
  return 0;
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::run_main("gap-recorder", [&] { return turntable::bench::run(argc, argv); });
}
