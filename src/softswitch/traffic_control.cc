#include "softswitch/traffic_control.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "dataplane/replication.h"
#include "softswitch/arguments.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;
using Change = std::function<void(TrafficManager&)>;

constexpr std::uint64_t kMaxDelayNs = 60'000'000'000;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 40U;
// As much as this time's worth may leave at once, so that a late wake-up of the pipeline thread
// costs no throughput.
constexpr std::uint64_t kDefaultBurstNs = 1'000'000;

constexpr std::uint64_t kMaxOverheadBytes = 1000;

// null: none.
std::uint64_t integer_or_none(const std::string& what, const Json& value, std::uint64_t least,
                              std::uint64_t most, std::uint64_t none) {
  return value.is_null() ? none : integer_argument(what, value, least, most);
}

// `before` has what the arguments leave out.
Rate rate_argument(const std::string& what, const Json& args, Rate before) {
  Rate rate = before;
  if (args.contains("max_rate_bps")) {
    rate.bits_per_s =
        integer_or_none(what + ": \"max_rate_bps\"", args.at("max_rate_bps"), 1, kMaxBitsPerS, 0);
    rate.burst_bytes =
        std::min(rate.bits_per_s / 8 * kDefaultBurstNs / 1'000'000'000, kMaxBurstBytes);
  }
  if (args.contains("max_burst_bytes")) {
    rate.burst_bytes = integer_argument(what + ": \"max_burst_bytes\"", args.at("max_burst_bytes"),
                                        0, kMaxBurstBytes);
    if (rate.bits_per_s == 0)
      throw bad_argument(what + ": \"max_burst_bytes\" needs a \"max_rate_bps\"");
  }
  return rate;
}

bool has_rate(const Json& args) {
  return args.contains("max_rate_bps") || args.contains("max_burst_bytes");
}

bool has_link(const Json& args) {
  return args.contains("link_bps") || args.contains("link_overhead_bytes");
}

// `before` has what the arguments leave out.
Link link_argument(const std::string& what, const Json& args, Link before) {
  Link link = before;
  if (args.contains("link_bps"))
    link.bits_per_s =
        integer_or_none(what + ": \"link_bps\"", args.at("link_bps"), 1, kMaxBitsPerS, 0);
  if (args.contains("link_overhead_bytes"))
    link.overhead_bytes = static_cast<std::uint32_t>(integer_argument(
        what + ": \"link_overhead_bytes\"", args.at("link_overhead_bytes"), 0, kMaxOverheadBytes));
  return link;
}

void change_queue(const TrafficManager& manager, std::uint16_t port, const std::string& what,
                  const Json& args, std::uint64_t now_ns, std::vector<Change>& changes) {
  expect_names(what, args, {"port", "queue", "max_rate_bps", "max_burst_bytes", "buffer_bytes"});
  const auto queue = static_cast<std::size_t>(
      integer_argument(what + ": \"queue\"", args.at("queue"), 0, kQueues - 1));
  if (has_rate(args)) {
    const Rate rate = rate_argument(what, args, manager.queue_rate(port, queue));
    changes.emplace_back([=](TrafficManager& tm) { tm.shape_queue(port, queue, rate, now_ns); });
  }
  if (args.contains("buffer_bytes")) {
    const std::uint64_t limit = integer_or_none(
        what + ": \"buffer_bytes\"", args.at("buffer_bytes"), 0, kMaxBufferBytes, kNoLimit);
    changes.emplace_back([=](TrafficManager& tm) { tm.limit_queue(port, queue, limit); });
  }
}

void change_port(const TrafficManager& manager, std::uint16_t port, const std::string& what,
                 const Json& args, std::uint64_t now_ns, std::vector<Change>& changes) {
  expect_names(what, args,
               {"port", "queue", "max_rate_bps", "max_burst_bytes", "link_bps",
                "link_overhead_bytes", "delay_ns"});
  if (has_link(args)) {
    const Link link = link_argument(what, args, manager.link(port));
    changes.emplace_back([=](TrafficManager& tm) { tm.set_link(port, link); });
  }
  if (has_rate(args)) {
    const Rate rate = rate_argument(what, args, manager.port_rate(port));
    changes.emplace_back([=](TrafficManager& tm) { tm.shape_port(port, rate, now_ns); });
  }
  if (args.contains("delay_ns")) {
    if (dataplane::is_recirculation_port(port))
      throw bad_argument(what + ": a recirculation port has no link that could delay");
    const std::uint64_t delay_ns =
        integer_or_none(what + ": \"delay_ns\"", args.at("delay_ns"), 0, kMaxDelayNs, 0);
    changes.emplace_back([=](TrafficManager& tm) { tm.set_delay(port, delay_ns); });
  }
}

void parse_update(const TrafficManager& manager, const PortTable& ports, const std::string& what,
                  const Json& args, std::uint64_t now_ns, std::vector<Change>& changes) {
  if (!args.is_object()) throw bad_argument(what + " is " + args.dump() + "; expected an object");
  if (!args.contains("port")) {
    expect_names(what, args, {"shared_buffer_bytes", "port"});
    if (!args.contains("shared_buffer_bytes"))
      throw bad_argument(what + ": expected \"port\" or \"shared_buffer_bytes\"");
    const std::uint64_t limit =
        integer_or_none(what + ": \"shared_buffer_bytes\"", args.at("shared_buffer_bytes"), 0,
                        kMaxBufferBytes, kNoLimit);
    changes.emplace_back([=](TrafficManager& tm) { tm.limit_all(limit); });
    return;
  }
  const std::uint16_t port = port_argument(what, args, ports).number();
  const auto change = args.contains("queue") ? change_queue : change_port;
  change(manager, port, what, args, now_ns, changes);
}

void describe_rate(Json& answer, Rate rate) {
  answer["max_rate_bps"] = nullptr;
  answer["max_burst_bytes"] = nullptr;
  if (rate.bits_per_s == 0) return;
  answer["max_rate_bps"] = rate.bits_per_s;
  answer["max_burst_bytes"] = rate.burst_bytes;
}

Json without_trailing_zeros(std::span<const std::uint64_t> counts) {
  while (!counts.empty() && counts.back() == 0) counts = counts.first(counts.size() - 1);
  return Json(std::vector<std::uint64_t>(counts.begin(), counts.end()));
}

void describe_link(Json& answer, Link link, const LinkCounters& counters) {
  answer["link_bps"] = link.bits_per_s == 0 ? Json() : Json(link.bits_per_s);
  answer["link_overhead_bytes"] = link.overhead_bytes;
  answer["link_frames"] = counters.frames;
  answer["link_late_log2_ns"] = without_trailing_zeros(counters.late_log2_ns);
  answer["link_late_sum_ns"] = counters.late_sum_ns;
  answer["link_late_max_ns"] = counters.late_max_ns;
}

Json limit_or_null(std::uint64_t limit) {
  return limit == kNoLimit ? Json() : Json(limit);
}

Json describe_queue(const TrafficManager& manager, std::uint16_t port, std::size_t queue) {
  const QueueCounters& counters = manager.counters(port, queue);
  Json answer = {{"queue", queue},
                 {"buffer_bytes", limit_or_null(manager.queue_limit(port, queue))},
                 {"usage_frames", counters.frames},
                 {"usage_cells", counters.cells},
                 {"usage_bytes", counters.bytes},
                 {"watermark_cells", counters.watermark_cells},
                 {"watermark_bytes", counters.watermark_bytes},
                 {"drop_count_packets", counters.dropped_frames},
                 {"drop_count_bytes", counters.dropped_bytes}};
  describe_rate(answer, manager.queue_rate(port, queue));
  return answer;
}

Json describe_port(const TrafficManager& manager, std::uint16_t port) {
  Json queues = Json::array();
  for (std::size_t queue = 0; queue < kQueues; ++queue)
    queues.push_back(describe_queue(manager, port, queue));
  Json answer = {{"port", port}, {"delay_ns", manager.delay_ns(port)}, {"queues", queues}};
  describe_link(answer, manager.link(port), manager.link_counters(port));
  describe_rate(answer, manager.port_rate(port));
  return answer;
}

}  // namespace

nlohmann::json write_traffic_manager(TrafficManager& manager, const PortTable& ports,
                                     const nlohmann::json& args, std::uint64_t now_ns) {
  expect_names("tm_write", args, {"updates"});
  if (!args.contains("updates") || !args.at("updates").is_array())
    throw bad_argument("tm_write: \"updates\" is missing; expected a list");
  const Json& updates = args.at("updates");
  std::vector<Change> changes;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    parse_update(manager, ports, "tm_write: updates[" + std::to_string(i) + "]", updates[i], now_ns,
                 changes);
  }
  for (const Change& change : changes) change(manager);
  return {{"applied", updates.size()}};
}

nlohmann::json read_traffic_manager(const TrafficManager& manager, const PortTable& ports,
                                    const nlohmann::json& args) {
  expect_names("tm_read", args, {"port"});
  Json described = Json::array();
  if (args.contains("port")) {
    described.push_back(describe_port(manager, port_argument("tm_read", args, ports).number()));
  } else {
    for (const auto& port : ports.all())
      described.push_back(describe_port(manager, port->number()));
  }
  return {{"shared",
           {{"buffer_bytes", limit_or_null(manager.shared_limit())},
            {"usage_bytes", manager.shared_bytes()},
            {"watermark_bytes", manager.shared_watermark_bytes()}}},
          {"ports", std::move(described)}};
}

}  // namespace turntable::softswitch
