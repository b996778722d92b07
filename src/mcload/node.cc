#include "mcload/node.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "mcload/population.h"
#include "mcload/raw_statistics.h"
#include "node/arguments.h"

namespace turntable::mcload {
namespace {

using Json = McloadNode::Json;
using node::Arguments;

constexpr double kMaxDeadlineS = 24 * 3600;

bool same(const ContentSettings& one, const ContentSettings& other) {
  return one.records == other.records && one.key_size == other.key_size &&
         one.value_size == other.value_size && one.seed == other.seed;
}

}  // namespace

McloadNode::McloadNode(std::function<void(std::string)> set_state, MakePlay make_play)
    : make_play_(std::move(make_play)), life_("mcload-node", std::move(set_state)) {}

McloadNode::~McloadNode() = default;

std::shared_ptr<const Content> McloadNode::content(const std::string& where,
                                                   const ContentSettings& settings) {
  const std::lock_guard lock(mutex_);
  try {
    if (!content_ || !same(content_->settings(), settings))
      content_ = std::make_shared<const Content>(settings);
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ", content: " + error.what());
  }
  return content_;
}

Json McloadNode::populate(const Json& args) {
  const std::string where = "mcload-node populate";
  const Arguments arguments(where, args, {"server", "protocol", "content", "deadline_s"});
  const Store store = store_argument(where, args);
  const double deadline_s = arguments.number("deadline_s", 0.001, kMaxDeadlineS);
  const std::int64_t deadline_ns = monotonic_ns() + static_cast<std::int64_t>(deadline_s * 1e9);
  const auto held = content(where, store.content);
  const Populated populated =
      mcload::populate(where, store.server, store.protocol, *held, deadline_ns, life_.cancelled());
  return {{"stored", populated.stored},
          {"was_there", populated.was_there},
          {"seconds", populated.seconds}};
}

Json McloadNode::prepare(const Json& args) {
  const std::string where = "mcload-node prepare";
  PreparePlan plan = prepare_plan(where, args);
  plan.generator.content = content(where, plan.store.content);
  Json peak = peak_of(where, plan);
  const double rate_per_s = peak.is_null() ? plan.generator.rate_per_s
                                           : plan.peak->share * peak.at("peak_per_s").get<double>();
  plan.generator.rate_per_s = rate_per_s / plan.clients;
  const auto command = life_.begin_prepare([&] { generator_.reset(); });
  auto generator = std::make_unique<Generator>(where, plan.generator);
  life_.prepared([&] {
    rate_per_s_ = plan.generator.rate_per_s;
    peak_ = std::move(peak);
    generator_ = std::move(generator);
    return generator_->parts();
  });
  const std::vector<int>& cpus = plan.generator.cpus;
  return {{"rate_per_s", plan.generator.rate_per_s}, {"cpus", cpus.empty() ? Json() : Json(cpus)}};
}

Json McloadNode::peak_of(const std::string& where, const PreparePlan& plan) {
  if (!plan.peak) return {};
  const std::lock_guard lock(mutex_);
  const auto peak = peaks_.find(plan.peak->key);
  if (peak == peaks_.end()) {
    throw bad_argument(where + ": peak_key \"" + plan.peak->key +
                       "\" has no peak in this process; expected the command `tune` with this key "
                       "before (it reads again what it found earlier)");
  }
  return peak->second;
}

Json McloadNode::stats(const Json& args) {
  const Arguments arguments("mcload-node stats", args, {});
  const auto lock = life_.lock();
  if (life_.running()) return {{"running", true}};
  life_.require_finished("stats");
  Json out = raw_statistics(generator_->measured(life_.schedule()));
  out["complete"] = !life_.stopped_early();
  out["rate_per_s"] = rate_per_s_;
  for (const auto& [name, field] :
       {std::pair("peak_per_s", "peak_per_s"), std::pair("peak_confirmed", "confirmed"),
        std::pair("peak_found_at_ns", "found_at_ns")}) {
    out[name] = peak_.is_null() ? Json() : peak_.value(field, Json());
  }
  return out;
}

}  // namespace turntable::mcload
