#include "shadowfax/beside/textstore_node.h"

#include <stdexcept>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/arguments.h"
#include "node/measured_window.h"
#include "shadowfax/beside/sum_of_values.h"

namespace turntable::shadowfax {
namespace {

using Json = TextstoreNode::Json;
using node::Arguments;

constexpr int kFormat = 1;
constexpr std::int64_t kMaxPort = 65'535;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxMemoryMb = std::int64_t{1} << 24U;
constexpr std::int64_t kLeastHashPower = 12, kMaxHashPower = 32;  // that memcached takes
constexpr std::int64_t kMaxRequests = 1'000'000;
constexpr std::int64_t kMaxCpu = 1023;
constexpr std::int64_t kMaxKeys = 1'000'000'000'000;
constexpr double kMaxDeadlineS = 24 * 3600;

StoreProcess::Settings settings_of(const std::string& address, const Arguments& arguments) {
  const std::string word = arguments.text("store");
  const auto protocol = protocol_of(word);
  if (!protocol || *protocol == Protocol::kShadowfax)
    arguments.fail("store", word, "memcached or redis");
  StoreProcess::Settings settings{
      .protocol = *protocol,
      .address = address,
      .port = static_cast<std::uint16_t>(arguments.integer("port", 1, kMaxPort))};
  if (!arguments.array_or_empty("cpus").empty()) {
    for (const std::int64_t cpu : arguments.integers("cpus", 0, kMaxCpu))
      settings.cpus.push_back(static_cast<int>(cpu));
  }
  if (*protocol == Protocol::kRedis) return settings;
  settings.threads = static_cast<int>(arguments.integer("threads", 1, kMaxThreads));
  settings.memory_mb = static_cast<int>(arguments.integer("memory_mb", 1, kMaxMemoryMb));
  settings.hash_power =
      static_cast<int>(arguments.integer("hash_power", kLeastHashPower, kMaxHashPower));
  settings.requests_per_event =
      static_cast<int>(arguments.integer("requests_per_event", 1, kMaxRequests));
  return settings;
}

}  // namespace

TextstoreNode::TextstoreNode(std::string address, std::filesystem::path directory,
                             std::function<void(std::string)> set_state)
    : address_(std::move(address)),
      directory_(std::move(directory)),
      set_state_(std::move(set_state)) {}

Json TextstoreNode::prepare(const Json& args) {
  const Arguments arguments(
      "textstore-node prepare", args,
      {"store", "port", "cpus", "threads", "memory_mb", "hash_power", "requests_per_event"});
  const StoreProcess::Settings settings = settings_of(address_, arguments);
  const std::lock_guard lock(mutex_);
  close();
  store_.emplace(children_, settings, directory_ / (arguments.text("store") + ".log"));
  version_ = store_->version();
  workers_.clear();
  for (const pid_t thread : store_->workers()) {
    workers_.push_back("/proc/" + std::to_string(store_->pid()) + "/task/" +
                       std::to_string(thread));
  }
  set_state_("serving");
  return {{"pid", store_->pid()}, {"version", version_}, {"command", store_->command()}};
}

Json TextstoreNode::start(const Json& args) {
  const Arguments arguments("textstore-node start", args, {"measure_from_ns", "measure_until_ns"});
  const node::MeasuredWindow window = node::measured_window(arguments);
  const std::lock_guard lock(mutex_);
  require_serving("start");
  const std::int64_t offset = realtime_to_monotonic_ns();
  sampler_.emplace(
      window.from_ns + offset, window.until_ns + offset, [this] { return sample(); },
      WindowSampler::Options{.program = "textstore-node", .realtime = true});
  return Json::object();
}

// On the sampler's thread, which ends before what it reads changes.
TextstoreNode::Sample TextstoreNode::sample() const {
  Sample sample{.at_ns = monotonic_ns(), .workers = {}};
  for (const std::string& directory : workers_) sample.workers.push_back(scheduling_of(directory));
  return sample;
}

Json TextstoreNode::sums(const Json& args) {
  const std::string where = "textstore-node sums";
  const Arguments arguments(where, args, {"keys", "deadline_s"});
  const auto keys = static_cast<std::uint64_t>(arguments.integer("keys", 1, kMaxKeys));
  const double deadline_s = arguments.number("deadline_s", 0.001, kMaxDeadlineS);
  const std::lock_guard lock(mutex_);
  require_serving("sums");
  try {
    const SumOfValues found = sum_of_values(
        store_->servers(), keys, monotonic_ns() + static_cast<std::int64_t>(deadline_s * 1e9));
    return {{"sum", found.sum}, {"found", found.found}};
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  }
}

Json TextstoreNode::stats(const Json& args) {
  const Arguments arguments("textstore-node stats", args, {});
  const std::lock_guard lock(mutex_);
  require_serving("stats");
  const auto window = sampler_ ? sampler_->window() : std::nullopt;
  if (!window) {
    throw CommandError(
        "wrong_state",
        "textstore-node stats: no window is over; send `start` and wait for its end");
  }
  Json workers = Json::array();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const auto &begin = window->begin.workers[i], &end = window->end.workers[i];
    Json row = {{"cpu_ns", nullptr}, {"waited_ns", nullptr}};
    if (begin && end) {
      const SchedulingTimes used = *end - *begin;
      row = {{"cpu_ns", used.run_ns}, {"waited_ns", used.wait_ns}};
    }
    workers.push_back(std::move(row));
  }
  const std::string ended = store_->end();
  return {{"format", kFormat},
          {"window_ns", window->end.at_ns - window->begin.at_ns},
          {"workers", workers},
          {"version", version_},
          {"command", store_->command()},
          {"ended", ended.empty() ? Json() : Json(ended)},
          {"errors", {{"store ended", ended.empty() ? 0 : 1}}}};
}

Json TextstoreNode::stop(const Json& args) {
  const Arguments arguments("textstore-node stop", args, {});
  const std::lock_guard lock(mutex_);
  close();
  return Json::object();
}

// Its port is needed again.
void TextstoreNode::close() {
  sampler_.reset();
  store_.reset();
  set_state_("idle");
}

void TextstoreNode::require_serving(const char* command) const {
  if (store_) return;
  throw CommandError("wrong_state", std::string("textstore-node ") + command +
                                        ": nothing is served; send `prepare` first");
}

}  // namespace turntable::shadowfax
