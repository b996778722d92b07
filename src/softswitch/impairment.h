// Faults of a link, by rule: frames that are dropped, duplicated, delayed or overtaken. For tests
// of protocols that must survive them.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "softswitch/frame_pool.h"
#include "softswitch/port.h"
#include "softswitch/timeline.h"

namespace turntable::softswitch {

// What happens to some of the frames that match. Every rule counts all frames; the first rule that
// picks a frame acts on it.
struct ImpairmentRule {
  enum class Action : std::uint8_t { kDrop, kDuplicate, kDelay, kReorder };
  enum class Pick : std::uint8_t { kAll, kEvery, kNth, kChance };

  Action action = Action::kDrop;

  // Matches a frame with (bytes[offset + i] & mask[i]) == value[i] for all i; shorter frames do not
  // match. Nothing in `value`: every frame matches.
  std::uint32_t offset = 0;
  std::vector<std::uint8_t> value;
  std::vector<std::uint8_t> mask;

  Pick pick = Pick::kAll;
  std::uint64_t number = 1;  // kEvery: frames n, 2n, ... of those that match; kNth: frame n
  double chance = 1;         // kChance
  std::uint64_t seed = 0;

  std::uint64_t delay_ns = 0;  // kDelay; kReorder: the longest time a frame is held back
  std::uint32_t behind = 1;    // kReorder: goes after this many later frames

  std::uint64_t matched = 0;  // counters
  std::uint64_t applied = 0;
};

// One port and direction. Takes frames in the order of the link and gives them in another, into
// `out`; what it holds back comes later, from release_due or with a later frame.
class Impairment {
 public:
  Impairment(FramePool& pool, Port& port) : pool_(pool), port_(port) {}

  Port& port() { return port_; }

  // What is being held back stays so.
  void set_rules(std::vector<ImpairmentRule> rules);
  std::span<const ImpairmentRule> rules() const { return rules_; }
  bool is_idle() const { return rules_.empty() && delayed_.empty() && overtaken_.empty(); }

  void pass(Frame* frame, std::uint64_t now_ns, std::vector<Frame*>& out);
  void release_due(std::uint64_t now_ns, std::vector<Frame*>& out);
  std::uint64_t next_due_ns() const;

 private:
  struct ActiveRule {
    std::mt19937_64 random;
    std::uint64_t threshold;  // of kChance: picked if the next number is at most this
  };
  struct Overtaken {
    Frame* frame;
    std::uint32_t behind;
    std::uint64_t due_ns;
  };

  ImpairmentRule* picking_rule(const Frame& frame);
  bool picks(ImpairmentRule& rule, ActiveRule& active, const Frame& frame);
  void duplicate(Frame* frame, std::vector<Frame*>& out);
  bool may_hold(Frame* frame);
  void go_on(Frame* frame, std::vector<Frame*>& out);

  FramePool& pool_;
  Port& port_;
  std::vector<ImpairmentRule> rules_;
  std::vector<ActiveRule> active_;  // beside rules_
  Timeline delayed_;
  std::vector<Overtaken> overtaken_;
};

}  // namespace turntable::softswitch
