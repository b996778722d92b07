#include "shadowfax/client/load_node.h"

#include <stdexcept>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/arguments.h"
#include "shadowfax/client/fill.h"
#include "shadowfax/client/load_arguments.h"
#include "shadowfax/client/raw_statistics.h"

namespace turntable::shadowfax {
namespace {

using Json = LoadNode::Json;
using node::Arguments;

constexpr double kMaxDeadlineS = 24 * 3600;

}  // namespace

LoadNode::LoadNode(std::function<void(std::string)> set_state)
    : life_("hlload-node", std::move(set_state)) {}

LoadNode::~LoadNode() = default;

Json LoadNode::fill(const Json& args) {
  const std::string where = "hlload-node fill";
  const Arguments arguments(where, args,
                            {"servers", "keys", "value_bytes", "clients", "client", "deadline_s"});
  const FillSettings settings = fill_arguments(where, arguments);
  const double deadline_s = arguments.number("deadline_s", 0.001, kMaxDeadlineS);
  const auto command = life_.begin_prepare([&] {
    threads_.clear();
    before_ = {};
  });
  const std::int64_t began_ns = monotonic_ns();
  const std::int64_t deadline_ns = began_ns + static_cast<std::int64_t>(deadline_s * 1e9);
  try {
    const std::uint64_t stored = shadowfax::fill(settings, deadline_ns, life_.cancelled());
    return {{"stored", stored}, {"seconds", static_cast<double>(monotonic_ns() - began_ns) / 1e9}};
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  }
}

Json LoadNode::prepare(const Json& args) {
  const std::string where = "hlload-node prepare";
  const LoadSettings settings = load_arguments(where, args);
  const auto command = life_.begin_prepare([&] {
    for (const ThreadResult& result : results()) {
      before_.issued += result.load.adds_issued_total;
      before_.acknowledged += result.load.adds_acknowledged_total;
    }
    threads_.clear();
  });
  std::vector<std::unique_ptr<LoadThread>> threads;
  try {
    for (unsigned thread = 0; thread < settings.threads; ++thread)
      threads.push_back(std::make_unique<LoadThread>(settings, thread));
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ": " + error.what());
  }
  life_.prepared([&] {
    threads_ = std::move(threads);
    std::vector<load::Part*> parts;
    parts.reserve(threads_.size());
    for (const auto& each : threads_) parts.push_back(each.get());
    return parts;
  });
  return Json::object();
}

std::vector<ThreadResult> LoadNode::results() const {
  std::vector<ThreadResult> results;
  results.reserve(threads_.size());
  for (const auto& each : threads_) results.push_back(each->result());
  return results;
}

Json LoadNode::stats(const Json& args) {
  const Arguments arguments("hlload-node stats", args, {});
  const auto lock = life_.lock();
  if (life_.running()) return {{"running", true}};
  life_.require_finished("stats");
  Json raw = raw_statistics(results(), life_.schedule().window_ns());
  raw["complete"] = !life_.stopped_early();
  for (const auto& [name, before] : {std::pair("adds_issued_total", before_.issued),
                                     std::pair("adds_acknowledged_total", before_.acknowledged)})
    raw[name] = raw[name].get<std::uint64_t>() + before;
  return raw;
}

}  // namespace turntable::shadowfax
