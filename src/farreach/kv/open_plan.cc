#include "farreach/kv/open_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/command_error.h"
#include "workload/random.h"

namespace turntable::kv {
namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr std::int64_t kMaxIterations = 65'536;
// Traces are drawn from the same seed and round: instants must not be the same numbers.
constexpr std::uint64_t kOfInstants = 0x696e7374616e7473;
// Timers fire some 25 us late on a processor of a virtual machine. A client that wakes so much
// earlier, but not for more than this share of its time, costs little.
constexpr double kWakeEarlyNs = 40'000;
constexpr double kWakeEarlyShare = 0.05;

load::Process process_of(const std::string& where, const Arguments& fields) {
  try {
    return load::process_of(fields.text_or("arrivals", "exponential"));
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ": arrivals: " + error.what());
  }
}

}  // namespace

std::optional<OpenPlan> OpenPlan::parse(const Arguments& arguments,
                                        const workload::Workload& workload) {
  const nlohmann::json* given = arguments.object_or_null("open_loop");
  if (given == nullptr) return std::nullopt;
  const std::string where = "kvclient prepare, open_loop";
  const Arguments fields(where, *given,
                         {"rate_per_s", "arrivals", "iteration", "outstanding_max", "give_up_us",
                          "probes", "probe_offset_ns", "probe_period_ns", "load_offset_ns"});
  if (workload.value_bytes > OpenCodec::kLongestValue) {
    arguments.fail("workload", workload.value_bytes,
                   "value_bytes of at most " + std::to_string(OpenCodec::kLongestValue) +
                       " with open_loop, whose requests are one datagram each");
  }
  OpenPlan plan;
  plan.rate_per_s = fields.number("rate_per_s", 1e-3, 1e9);
  plan.process = process_of(where, fields);
  const std::int64_t iteration = fields.integer_or("iteration", 0, kMaxIterations - 1, 0);
  plan.seed = workload::stream_seed(workload.seed ^ kOfInstants, workload.round,
                                    static_cast<std::uint64_t>(iteration));
  plan.outstanding_max =
      static_cast<std::size_t>(fields.integer_or("outstanding_max", 0, INT32_MAX, 0));
  plan.give_up_ns = fields.integer_or("give_up_us", 100, kMinuteNs / 1000, 5'000'000) * 1000;
  plan.probes = static_cast<std::uint64_t>(fields.integer_or("probes", 0, 100'000, 0));
  plan.probe_offset_ns = fields.integer_or("probe_offset_ns", 0, kMinuteNs, 0);
  plan.probe_period_ns = fields.integer_or("probe_period_ns", 1, kMinuteNs, kMinuteNs);
  const auto last = static_cast<std::int64_t>(plan.probes == 0 ? 0 : plan.probes - 1);
  const std::int64_t probed =
      plan.probes == 0 ? 0 : plan.probe_offset_ns + last * plan.probe_period_ns;
  plan.load_offset_ns =
      fields.integer_or("load_offset_ns", probed, kMinuteNs * kMaxIterations, probed);
  return plan;
}

OpenClient::Settings OpenPlan::of_thread(const OpenOrder::Settings& order, unsigned clients,
                                         std::uint32_t value_bytes, std::size_t copies_max) const {
  OpenClient::Settings settings;
  settings.order = order;
  settings.value_bytes = value_bytes;
  settings.copies_max = copies_max;
  settings.rate_per_s = rate_per_s * static_cast<double>(order.clients) / clients;
  settings.process = process;
  settings.seed = seed;
  settings.loop = {.outstanding_max = outstanding_max, .give_up_ns = give_up_ns};
  const double gap_ns = 1e9 / settings.rate_per_s;
  settings.frame = {
      .spin_ns = static_cast<std::int64_t>(std::min(kWakeEarlyNs, kWakeEarlyShare * gap_ns)),
      .realtime = true};
  settings.load_offset_ns = load_offset_ns;
  if (order.first_client == 0) {
    settings.probes = probes;
    settings.probe_offset_ns = probe_offset_ns;
    settings.probe_period_ns = probe_period_ns;
  }
  return settings;
}

}  // namespace turntable::kv
