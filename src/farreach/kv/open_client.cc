#include "farreach/kv/open_client.h"

#include <utility>

#include "net/udp.h"

namespace turntable::kv {
namespace {

constexpr std::size_t kQueued = 4096;  // datagrams that wait to be read
constexpr double kNeverS = 1e6;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

net::DatagramSettings OpenClient::datagrams_for(const Settings& settings) {
  const bool large = settings.value_bytes > kMaxValueBytes;
  return {.queued = kQueued,
          .datagram_bytes = large ? net::kLargeDatagramBytes : net::kDatagramBytes};
}

OpenClient::OpenClient(const Settings& settings, const Replay& replay,
                       std::unique_ptr<net::Datagrams> datagrams)
    : settings_(settings),
      order_(settings.order, replay),
      book_(replay.partitions().size(), settings.copies_max, settings.probes),
      thread_(load::OpenLoop(settings.loop), OpenCodec(order_, replay, settings.value_bytes, book_),
              std::move(datagrams), settings.frame) {}

// Probes at their own distances, then those that are drawn.
load::Gap OpenClient::gap() const {
  if (order_.empty()) return [](std::uint64_t) { return kNeverS; };
  const auto drawn = load::drawn_gaps(
      load::Arrivals({.process = settings_.process, .rate_per_s = settings_.rate_per_s}),
      settings_.seed, settings_.order.first_global_client + settings_.order.first_client);
  const std::uint64_t probes = settings_.probes;
  const double offset_s = seconds(settings_.probe_offset_ns);
  const double period_s = seconds(settings_.probe_period_ns);
  const double last_probe_s = offset_s + static_cast<double>(probes - 1) * period_s;
  const double idle_s = seconds(settings_.load_offset_ns) - (probes == 0 ? 0 : last_probe_s);
  return [=](std::uint64_t number) {
    if (number < probes) return number == 0 ? offset_s : period_s;
    return drawn(number - probes) + (number == probes ? idle_s : 0);
  };
}

void OpenClient::set_schedule(const load::Schedule& schedule) {
  book_.set_schedule(schedule);
  thread_.set_schedule(schedule, gap());
  const load::OpenLoop& loop = thread_.loop();
  for (std::uint64_t number = 0; number < loop.requests(); ++number)
    if (loop.in_window(number)) ++book_.open[order_.at(number).operation.running].offered;
}

void OpenClient::run() {
  thread_.run();
  book_.statistics.receive_errors += thread_.packets().receive_errors;
  book_.statistics.malformed += thread_.packets().unknown;
  book_.end(thread_.loop().statistics());
}

}  // namespace turntable::kv
