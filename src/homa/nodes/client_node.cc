#include "homa/nodes/client_node.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "homa/nodes/arguments.h"
#include "homa/nodes/raw_statistics.h"
#include "homa/sizes_argument.h"

namespace turntable::homa {
namespace {

using Json = ClientNode::Json;
using node::Arguments;

constexpr std::int64_t kMaxOutstanding = 1'000'000;

Process process_argument(const Arguments& arguments) {
  const std::string process = arguments.text_or("arrivals", "exponential");
  if (process != "exponential" && process != "periodic")
    arguments.fail("arrivals", process, "exponential or periodic");
  return process == "periodic" ? Process::kPeriodic : Process::kExponential;
}

// [[bytes, ns], ...], of the idle network, or those that this node has measured.
IdleRoundTrips idle_argument(const Json& args, const Arguments& arguments,
                             const IdleRoundTrips& measured) {
  std::map<std::uint32_t, double> ns_by_bytes;
  if (!args.contains("idle")) return {};
  if (args.at("idle") == "measured") {
    if (measured.empty()) arguments.fail("idle", "measured", "the command `idle` to come before");
    return measured;
  }
  for (const Json& row : arguments.array_or_empty("idle")) {
    const bool is_row = row.is_array() && row.size() == 2 && row[0].is_number_integer() &&
                        row[0].get<std::int64_t>() > 0 && row[1].is_number() &&
                        row[1].get<double>() > 0;
    if (!is_row) arguments.fail("idle", row, "a size in bytes and its round trip in ns");
    ns_by_bytes[row[0].get<std::uint32_t>()] = row[1].get<double>();
  }
  return IdleRoundTrips(std::move(ns_by_bytes));
}

ClientSettings settings_argument(const std::string& where, const Json& args,
                                 const Arguments& arguments, const IdleRoundTrips& measured) {
  ClientSettings settings;
  settings.transport = transport_argument(where, arguments.object("transport"));
  settings.sizes = sizes_argument(where + ", sizes", arguments.object("sizes"));
  const std::uint32_t largest = settings.sizes.points().back().bytes;
  if (const auto most = max_message_bytes(settings.transport); largest > most) {
    throw bad_argument(where + ": sizes reach " + std::to_string(largest) +
                       " bytes; expected at most max_message_bytes, " + std::to_string(most) +
                       ". Cap them, or divide them");
  }
  settings.process = process_argument(arguments);
  settings.calls_per_s = arguments.number("payload_bps", 1, 1e12) / 8 / settings.sizes.mean();
  settings.client = static_cast<std::uint32_t>(arguments.integer("client", 0, 4095));
  settings.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX));
  settings.outstanding =
      static_cast<unsigned>(arguments.integer_or("outstanding", 1, kMaxOutstanding, 50));
  settings.fan_out =
      static_cast<std::uint32_t>(arguments.integer_or("fan_out", 1, kMaxOutstanding, 1));
  settings.response_bytes =
      static_cast<std::uint32_t>(arguments.integer_or("response_bytes", 0, 1 << 20, 0));
  settings.idle = idle_argument(args, arguments, measured);
  settings.frame.spin_ns = arguments.integer_or("spin_us", 0, 1'000'000, 0) * 1000;
  settings.frame.realtime = arguments.boolean("realtime");
  return settings;
}

}  // namespace

ClientNode::ClientNode(net::DatagramSettings local, std::function<void(std::string)> set_state)
    : local_(std::move(local)), life_("msgbench-client", std::move(set_state)) {}

ClientNode::~ClientNode() = default;

Json ClientNode::prepare(const Json& args) {
  const std::string where = "msgbench-client prepare";
  const Arguments arguments(
      where, args,
      {"transport", "servers", "client", "seed", "sizes", "payload_bps", "arrivals", "outstanding",
       "fan_out", "response_bytes", "idle", "spin_us", "realtime"});
  ClientSettings settings = settings_argument(where, args, arguments, measured_idle_);
  Peers servers = peers_argument(where, arguments, "servers");
  const auto command = life_.begin_prepare([&] { client_.reset(); });
  const double calls_per_s = settings.calls_per_s;
  const double mean = settings.sizes.mean();
  auto client = std::make_unique<MessageClient>(std::move(settings), std::move(servers), local_);
  life_.prepared([&] {
    client_ = std::move(client);
    return std::vector<load::Part*>{client_.get()};
  });
  const auto buffer_bytes = client_->transport().receive_buffer_bytes();
  return {{"calls_per_s", calls_per_s},
          {"mean_bytes", mean},
          {"receive_buffer_bytes", buffer_bytes ? Json(*buffer_bytes) : Json()}};
}

Json ClientNode::idle(const Json& args) {
  const std::string where = "msgbench-client idle";
  const Arguments arguments(where, args, {"bytes", "calls", "each_s", "deadline_s"});
  const auto calls = static_cast<unsigned>(arguments.integer("calls", 1, 1'000'000));
  const double each_s = args.contains("each_s") ? arguments.number("each_s", 0, 86'400) : 86'400;
  const double deadline_s = arguments.number("deadline_s", 0.001, 86'400);
  const auto sizes = arguments.integers("bytes", 1, 1 << 28);
  const std::int64_t deadline_ns = monotonic_ns() + static_cast<std::int64_t>(deadline_s * 1e9);
  const auto lock = life_.lock();
  if (!client_ || life_.running())
    throw CommandError("wrong_state", where + ": send `prepare` first, and `start` afterwards");
  Json rows = Json::array();
  std::map<std::uint32_t, double> least_ns;
  for (const std::int64_t bytes : sizes) {
    const auto times = client_->measure_idle(static_cast<std::uint32_t>(bytes), calls,
                                             std::llround(each_s * 1e9), deadline_ns);
    rows.push_back({{"bytes", bytes},
                    {"calls", times.calls},
                    {"min_ns", times.min_ns},
                    {"mean_ns", times.mean_ns},
                    {"median_ns", times.median_ns},
                    {"p90_ns", times.p90_ns},
                    {"p99_ns", times.p99_ns},
                    {"p999_ns", times.p999_ns}});
    // A size that is named again was measured at another time: the lesser one was less disturbed.
    const auto least = static_cast<double>(times.min_ns);
    const auto [row, is_new] = least_ns.emplace(static_cast<std::uint32_t>(bytes), least);
    if (!is_new) row->second = std::min(row->second, least);
  }
  measured_idle_ = IdleRoundTrips(std::move(least_ns));
  return {{"round_trips", rows}};
}

Json ClientNode::stats(const Json& args) {
  const Arguments arguments("msgbench-client stats", args, {"from_second"});
  const std::int64_t from_second = arguments.integer_or("from_second", 0, INT64_MAX, 0);
  const auto lock = life_.lock();
  if (life_.running()) return statistics_so_far(*client_, static_cast<std::size_t>(from_second));
  life_.require_finished("stats");
  return raw_statistics(*client_, life_.schedule(), !life_.stopped_early());
}

}  // namespace turntable::homa
