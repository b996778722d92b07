// The impairments of all ports, and the command that sets them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "softswitch/impairment.h"

namespace turntable::softswitch {

enum class Direction : std::uint8_t { kReceive, kSend };

// The pipeline thread only.
class Impairments {
 public:
  Impairments(FramePool& pool, const PortTable& ports) : pool_(pool), ports_(ports) {}

  // False: no port has any, and there is no need to ask further.
  bool any() const { return any_; }
  // nullptr: none.
  Impairment* find(const Port& port, Direction direction) const {
    const auto& list = of(direction);
    return any_ && port.number() < list.size() ? list[port.number()].get() : nullptr;
  }
  std::uint64_t next_due_ns() const;

  // Calls release(impairment, direction) for each whose time has come.
  template <typename Release>
  bool release_due(std::uint64_t now_ns, Release release) {
    bool released = false;
    for (const Direction direction : {Direction::kReceive, Direction::kSend}) {
      for (const auto& impairment : of(direction)) {
        if (impairment == nullptr || impairment->next_due_ns() > now_ns) continue;
        release(*impairment, direction);
        released = true;
      }
    }
    return released;
  }

  // The command `impair`, docs/architecture.md §5. Throws CommandError, and then nothing changed.
  nlohmann::json execute(const nlohmann::json& args);

 private:
  using List = std::vector<std::unique_ptr<Impairment>>;  // by port number
  const List& of(Direction direction) const {
    return lists_[direction == Direction::kReceive ? 0 : 1];
  }

  void set(const nlohmann::json& args);
  nlohmann::json describe() const;

  FramePool& pool_;
  const PortTable& ports_;
  bool any_ = false;
  std::array<List, 2> lists_;
};

}  // namespace turntable::softswitch
