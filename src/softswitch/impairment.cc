#include "softswitch/impairment.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace turntable::softswitch {
namespace {

bool matches(const ImpairmentRule& rule, const dataplane::Packet& packet) {
  if (rule.value.empty()) return true;
  if (rule.offset + rule.value.size() > packet.length) return false;
  for (std::size_t i = 0; i < rule.value.size(); ++i) {
    if ((packet.data[rule.offset + i] & rule.mask[i]) != rule.value[i]) return false;
  }
  return true;
}

std::uint64_t threshold_of(double chance) {
  constexpr double kNumbers = 18446744073709551616.0;  // 2^64
  if (chance >= 1) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::floor(chance * kNumbers));
}

}  // namespace

void Impairment::set_rules(std::vector<ImpairmentRule> rules) {
  rules_ = std::move(rules);
  active_.clear();
  for (const ImpairmentRule& rule : rules_)
    active_.push_back({std::mt19937_64(rule.seed), threshold_of(rule.chance)});
}

void Impairment::pass(Frame* frame, std::uint64_t now_ns, std::vector<Frame*>& out) {
  ImpairmentRule* const rule = picking_rule(*frame);
  if (rule == nullptr) return go_on(frame, out);
  ++rule->applied;
  switch (rule->action) {
    case ImpairmentRule::Action::kDrop:
      count_drop(*frame, port_, DropReason::kImpaired);
      pool_.release(frame);
      break;
    case ImpairmentRule::Action::kDuplicate:
      duplicate(frame, out);
      go_on(frame, out);
      break;
    case ImpairmentRule::Action::kDelay:
      if (may_hold(frame)) delayed_.add(frame, now_ns + rule->delay_ns);
      break;
    case ImpairmentRule::Action::kReorder:
      if (may_hold(frame)) overtaken_.push_back({frame, rule->behind, now_ns + rule->delay_ns});
      break;
  }
}

// Every rule sees every frame, so that one rule's "every third" does not depend on another rule.
ImpairmentRule* Impairment::picking_rule(const Frame& frame) {
  ImpairmentRule* picking = nullptr;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (picks(rules_[i], active_[i], frame) && picking == nullptr) picking = &rules_[i];
  }
  return picking;
}

bool Impairment::picks(ImpairmentRule& rule, ActiveRule& active, const Frame& frame) {
  if (!matches(rule, frame.packet)) return false;
  ++rule.matched;
  switch (rule.pick) {
    case ImpairmentRule::Pick::kAll:
      return true;
    case ImpairmentRule::Pick::kEvery:
      return rule.matched % rule.number == 0;
    case ImpairmentRule::Pick::kNth:
      return rule.matched == rule.number;
    case ImpairmentRule::Pick::kChance:
      return active.random() < active.threshold;
  }
  return false;
}

void Impairment::duplicate(Frame* frame, std::vector<Frame*>& out) {
  Frame* const twin = pool_.acquire();
  if (twin == nullptr) return port_.counters().drop(DropReason::kNoBuffer);
  twin->copy_bytes(*frame);
  out.push_back(twin);
}

// What is held must leave enough frames for what arrives.
bool Impairment::may_hold(Frame* frame) {
  if (pool_.available() >= reserved_frames(pool_)) return true;
  count_drop(*frame, port_, DropReason::kNoBuffer);
  pool_.release(frame);
  return false;
}

void Impairment::go_on(Frame* frame, std::vector<Frame*>& out) {
  out.push_back(frame);
  std::erase_if(overtaken_, [&](Overtaken& held) {
    if (--held.behind > 0) return false;
    out.push_back(held.frame);
    return true;
  });
}

void Impairment::release_due(std::uint64_t now_ns, std::vector<Frame*>& out) {
  while (Frame* const frame = delayed_.take_due(now_ns)) out.push_back(frame);
  std::erase_if(overtaken_, [&](const Overtaken& held) {
    if (held.due_ns > now_ns) return false;
    out.push_back(held.frame);
    return true;
  });
}

std::uint64_t Impairment::next_due_ns() const {
  std::uint64_t next_ns = delayed_.next_due_ns();
  for (const Overtaken& held : overtaken_) next_ns = std::min(next_ns, held.due_ns);
  return next_ns;
}

}  // namespace turntable::softswitch
