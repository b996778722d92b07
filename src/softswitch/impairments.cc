#include "softswitch/impairments.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/hex.h"
#include "dataplane/replication.h"
#include "softswitch/arguments.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;
using Action = ImpairmentRule::Action;
using Pick = ImpairmentRule::Pick;

constexpr std::uint64_t kMaxDelayNs = 60'000'000'000;
constexpr std::uint64_t kDefaultHoldNs = 10'000'000;  // of a frame that nothing overtakes
constexpr std::uint64_t kMaxBehind = 64;
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 53U;
constexpr std::array<const char*, 4> kActions = {"drop", "duplicate", "delay", "reorder"};

std::vector<std::uint8_t> bytes_argument(const std::string& what, const Json& value) {
  const auto refuse = [&] {
    return bad_argument(what + " is " + value.dump() +
                        "; expected pairs of hex digits, for instance \"88b5\"");
  };
  if (!value.is_string()) throw refuse();
  const auto bytes = from_hex(value.get_ref<const std::string&>());
  if (!bytes || bytes->empty()) throw refuse();
  return *bytes;
}

void parse_match(ImpairmentRule& rule, const std::string& what, const Json& match) {
  expect_names(what, match, {"offset", "value", "mask"});
  if (!match.contains("value")) throw bad_argument(what + ": \"value\" is missing");
  rule.offset = static_cast<std::uint32_t>(
      integer_argument(what + ".offset", match.value("offset", Json(0)), 0, dataplane::kMaxFrame));
  rule.value = bytes_argument(what + ".value", match.at("value"));
  rule.mask = match.contains("mask") ? bytes_argument(what + ".mask", match.at("mask"))
                                     : std::vector<std::uint8_t>(rule.value.size(), 0xFF);
  if (rule.mask.size() != rule.value.size())
    throw bad_argument(what + ": \"mask\" and \"value\" differ in length");
  for (std::size_t i = 0; i < rule.value.size(); ++i)
    rule.value[i] = static_cast<std::uint8_t>(rule.value[i] & rule.mask[i]);
}

void parse_pick(ImpairmentRule& rule, const std::string& what, const Json& args) {
  if (args.contains("every") + args.contains("nth") + args.contains("chance") > 1)
    throw bad_argument(what + ": expected only one of \"every\", \"nth\" and \"chance\"");
  if (args.contains("every")) {
    rule.pick = Pick::kEvery;
    rule.number = integer_argument(what + ".every", args.at("every"), 1, kMaxCount);
  } else if (args.contains("nth")) {
    rule.pick = Pick::kNth;
    rule.number = integer_argument(what + ".nth", args.at("nth"), 1, kMaxCount);
  } else if (args.contains("chance")) {
    const Json& chance = args.at("chance");
    if (!chance.is_number() || chance < 0 || chance > 1)
      throw bad_argument(what + ".chance is " + chance.dump() + "; expected 0 to 1");
    rule.pick = Pick::kChance;
    rule.chance = chance;
    rule.seed = integer_argument(what + ".seed", args.value("seed", Json(1)), 0, kMaxCount);
  }
}

// The same as `fault_of_link` in core/turntable_core/experiment.schema.json, for timelines.
ImpairmentRule parse_rule(const std::string& what, const Json& args) {
  expect_names(what, args,
               {"action", "match", "every", "nth", "chance", "seed", "delay_ns", "behind"});
  ImpairmentRule rule;
  const Json name = args.value("action", Json());
  const auto* const action = std::find(kActions.begin(), kActions.end(), name);
  if (action == kActions.end()) {
    throw bad_argument(what + ".action is " + name.dump() +
                       "; expected drop, duplicate, delay or reorder");
  }
  rule.action = static_cast<Action>(action - kActions.begin());
  if (args.contains("match")) parse_match(rule, what + ".match", args.at("match"));
  parse_pick(rule, what, args);
  if (rule.action == Action::kDelay && !args.contains("delay_ns"))
    throw bad_argument(what + ": \"delay_ns\" is missing");
  rule.delay_ns = integer_argument(what + ".delay_ns", args.value("delay_ns", Json(kDefaultHoldNs)),
                                   1, kMaxDelayNs);
  rule.behind = static_cast<std::uint32_t>(
      integer_argument(what + ".behind", args.value("behind", Json(1)), 1, kMaxBehind));
  return rule;
}

Json describe_rule(const ImpairmentRule& rule) {
  Json answer = {{"action", kActions[static_cast<std::size_t>(rule.action)]},
                 {"matched", rule.matched},
                 {"applied", rule.applied}};
  if (!rule.value.empty()) {
    answer["match"] = {
        {"offset", rule.offset}, {"value", to_hex(rule.value)}, {"mask", to_hex(rule.mask)}};
  }
  if (rule.pick == Pick::kEvery) answer["every"] = rule.number;
  if (rule.pick == Pick::kNth) answer["nth"] = rule.number;
  if (rule.pick == Pick::kChance) answer.update({{"chance", rule.chance}, {"seed", rule.seed}});
  if (rule.action == Action::kDelay || rule.action == Action::kReorder)
    answer["delay_ns"] = rule.delay_ns;
  if (rule.action == Action::kReorder) answer["behind"] = rule.behind;
  return answer;
}

}  // namespace

std::uint64_t Impairments::next_due_ns() const {
  std::uint64_t next_ns = kNever;
  for (const List& list : lists_) {
    for (const auto& impairment : list) {
      if (impairment != nullptr) next_ns = std::min(next_ns, impairment->next_due_ns());
    }
  }
  return next_ns;
}

nlohmann::json Impairments::execute(const nlohmann::json& args) {
  expect_names("impair", args, {"port", "direction", "rules"});
  if (!args.empty()) set(args);
  return describe();
}

void Impairments::set(const nlohmann::json& args) {
  Port& port = port_argument("impair", args, ports_);
  if (dataplane::is_recirculation_port(port.number()))
    throw bad_argument("impair: port " + std::to_string(port.number()) + " has no link");
  const Json direction = args.value("direction", Json());
  if (direction != "rx" && direction != "tx") {
    throw bad_argument("impair: \"direction\" is " + direction.dump() +
                       "; expected \"rx\" (from the link) or \"tx\" (to it)");
  }
  if (!args.contains("rules") || !args.at("rules").is_array())
    throw bad_argument("impair: \"rules\" is missing; expected a list, empty for none");
  std::vector<ImpairmentRule> rules;
  for (const Json& rule : args.at("rules"))
    rules.push_back(parse_rule("impair: rules[" + std::to_string(rules.size()) + "]", rule));

  List& list = lists_[direction == "rx" ? 0 : 1];
  list.resize(kMaxPorts);
  auto& impairment = list[port.number()];
  if (impairment == nullptr) impairment = std::make_unique<Impairment>(pool_, port);
  impairment->set_rules(std::move(rules));
  // One that still holds frames back stays until it is set again.
  if (impairment->is_idle()) impairment.reset();
  any_ = false;
  for (const List& each : lists_) {
    any_ =
        any_ || std::any_of(each.begin(), each.end(), [](const auto& p) { return p != nullptr; });
  }
}

nlohmann::json Impairments::describe() const {
  Json answer = Json::array();
  for (const Direction direction : {Direction::kReceive, Direction::kSend}) {
    for (const auto& impairment : of(direction)) {
      if (impairment == nullptr || impairment->rules().empty()) continue;
      Json rules = Json::array();
      for (const ImpairmentRule& rule : impairment->rules()) rules.push_back(describe_rule(rule));
      answer.push_back({{"port", impairment->port().number()},
                        {"direction", direction == Direction::kReceive ? "rx" : "tx"},
                        {"rules", std::move(rules)}});
    }
  }
  return {{"impaired", std::move(answer)}};
}

}  // namespace turntable::softswitch
