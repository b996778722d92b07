// A port of the switch: where frames come from and go to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/unique_fd.h"
#include "dataplane/port_numbers.h"
#include "net/network_interface.h"
#include "softswitch/counters.h"
#include "softswitch/frame_pool.h"

namespace turntable::softswitch {

inline constexpr std::size_t kBatch = 64;      // frames per receive or send call
inline constexpr std::size_t kMaxPorts = 512;  // TNA port numbers have 9 bits

// Used by the pipeline thread only. Frames stay the caller's.
class Port {
 public:
  Port(std::uint16_t number, std::string interface, bool is_cpu)
      : number_(number), interface_(std::move(interface)), is_cpu_(is_cpu) {}
  virtual ~Port() = default;

  // Readable when frames are waiting.
  virtual int fd() const = 0;

  // Receives into `frames` (at most kBatch) without waiting and counts. Returns n: the first n,
  // which may be reordered for that, now hold frames in the order of their arrival. A port that is
  // down receives nothing.
  virtual std::size_t receive(std::span<Frame*> frames) = 0;

  // Sends in order, at most kBatch, and counts each as sent or dropped.
  virtual void send(std::span<Frame* const> frames) = 0;

  // "up", "down", or "removed" (the interface has gone or was replaced; only a restart binds it
  // again).
  virtual std::string link_state() = 0;

  // Adds what the kernel counted since the last call.
  virtual void collect_kernel_counters() {}

  std::uint16_t number() const { return number_; }
  const std::string& interface() const { return interface_; }
  bool is_cpu() const { return is_cpu_; }
  // A port that is not enabled is as one whose link is down.
  bool is_enabled() const { return is_enabled_; }
  void enable(bool enabled) { is_enabled_ = enabled; }
  PortCounters& counters() { return counters_; }

 private:
  std::uint16_t number_;
  std::string interface_;
  bool is_cpu_;
  bool is_enabled_ = true;
  PortCounters counters_;
};

// That the interface is this port's, while it is open: two would both receive what comes. Throws
// std::runtime_error where another port has it, of this switch or another one.
UniqueFd claim_for_port(const net::NetworkInterface& link, std::uint16_t number,
                        const std::string& interface);

// Free frames that those held back, in queues or by impairments, leave to frames that pass; without
// them nothing would be received any more. (The loop's own for its next receive call come on top.)
inline std::size_t reserved_frames(const FramePool& pool) {
  return std::min(kBatch, pool.capacity() / 4);
}

// A frame's end as a drop: counted at `port`, and told to its trace. Whoever has it releases it.
inline void count_drop(const Frame& frame, Port& port, DropReason reason) {
  port.counters().drop(reason);
  if (frame.trace != nullptr) [[unlikely]]
    frame.trace->dropped(port.number(), name_of(reason));
}

// A recirculation port: it has no link, the pipeline takes what is sent to it back.
class RecirculationPort : public Port {
 public:
  explicit RecirculationPort(std::uint16_t number) : Port(number, "recirculation", false) {}
  int fd() const override { return -1; }
  std::size_t receive(std::span<Frame*>) override { return 0; }
  void send(std::span<Frame* const>) override {}
  std::string link_state() override { return "up"; }
};

// The ports by number. The recirculation ports are there from the beginning.
class PortTable {
 public:
  // `pipes`: their ports there may be.
  explicit PortTable(std::uint32_t pipes = dataplane::kPipes);

  // Throws std::invalid_argument when the number is out of range, of no pipe, or taken.
  void add(std::unique_ptr<Port> port);

  Port* find(std::uint16_t number) const {
    return number < by_number_.size() ? by_number_[number] : nullptr;
  }
  // Those that were added.
  std::span<const std::unique_ptr<Port>> all() const { return ports_; }
  std::span<const std::unique_ptr<Port>> recirculation() const { return recirculation_; }

 private:
  std::uint32_t pipes_;
  std::vector<std::unique_ptr<Port>> recirculation_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Port*> by_number_ = std::vector<Port*>(kMaxPorts, nullptr);
};

}  // namespace turntable::softswitch
