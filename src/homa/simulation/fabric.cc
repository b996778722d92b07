#include "homa/simulation/fabric.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "common/command_error.h"

namespace turntable::homa::simulation {
namespace {

std::uint32_t leaves_of(const FabricSettings& settings) {
  if (settings.hosts < 2)
    throw bad_argument("a fabric of " + std::to_string(settings.hosts) +
                       " hosts; expected at least 2");
  if (settings.hosts_per_leaf == 0) return 1;
  if (settings.hosts % settings.hosts_per_leaf != 0 || settings.spines == 0)
    throw bad_argument(std::to_string(settings.hosts) + " hosts, " +
                       std::to_string(settings.hosts_per_leaf) + " at a leaf, " +
                       std::to_string(settings.spines) +
                       " spines; expected whole leaves and at least one spine");
  return settings.hosts / settings.hosts_per_leaf;
}

}  // namespace

std::uint32_t Fabric::Frames::add(const Frame& frame) {
  if (free.empty()) {
    records.push_back(frame);
    return static_cast<std::uint32_t>(records.size() - 1);
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  records[index] = frame;
  return index;
}

// Switches: leaves, then spines.
Fabric::Fabric(const FabricSettings& settings, Events& events)
    : settings_(settings),
      events_(events),
      leaves_(leaves_of(settings)),
      link_ps_(std::llround(settings.link_delay_us * 1e6)),
      switch_ps_(std::llround(settings.switch_delay_us * 1e6)) {
  for (std::uint32_t host = 0; host < settings_.hosts; ++host)
    add_port(settings_.host_bits_per_s, EventKind::kAtHost, host);
  if (settings_.hosts_per_leaf == 0) return;
  for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
    for (std::uint32_t spine = 0; spine < settings_.spines; ++spine)
      add_port(settings_.core_bits_per_s, EventKind::kAtSwitch, leaves_ + spine);
  for (std::uint32_t spine = 0; spine < settings_.spines; ++spine)
    for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
      add_port(settings_.core_bits_per_s, EventKind::kAtSwitch, leaf);
}

void Fabric::add_port(double bits_per_s, EventKind next, std::uint32_t next_index) {
  Port& port = ports_.emplace_back();
  port.ps_per_byte = 8 * kPsPerSecond / bits_per_s;
  port.next = next;
  port.next_index = next_index;
}

std::uint32_t Fabric::port_at(std::uint32_t switch_index, std::uint32_t to) {
  const std::uint32_t leaf = leaf_of(to);
  if (switch_index == leaf) return to;
  const std::uint32_t first_up = settings_.hosts;
  if (switch_index < leaves_) {
    const auto spine = static_cast<std::uint32_t>(random_.next() % settings_.spines);
    return first_up + switch_index * settings_.spines + spine;
  }
  const std::uint32_t first_down = first_up + leaves_ * settings_.spines;
  return first_down + (switch_index - leaves_) * leaves_ + leaf;
}

void Fabric::inject(const Frame& frame, std::int64_t left_at_ps) {
  events_.at(left_at_ps + link_ps_ + switch_ps_, EventKind::kAtSwitch, leaf_of(frame.from),
             frames_.add(frame));
}

void Fabric::at_switch(std::uint32_t frame_index, std::uint32_t switch_index) {
  enqueue(port_at(switch_index, frames_.records[frame_index].to), frame_index);
}

void Fabric::enqueue(std::uint32_t port_index, std::uint32_t frame_index) {
  Port& port = ports_[port_index];
  const Frame& frame = frames_.records[frame_index];
  const std::int64_t now = events_.now_ps();
  if (port.free_at_ps <= now && port.not_empty == 0) return start(port_index, {frame_index, now});
  if (settings_.buffer_bytes > 0 && port.queued_bytes + frame.wire_bytes > settings_.buffer_bytes) {
    ++port.statistics.dropped;
    frames_.free.push_back(frame_index);
    return;
  }
  port.queued_bytes += frame.wire_bytes;
  port.statistics.max_queued_bytes = std::max(port.statistics.max_queued_bytes, port.queued_bytes);
  port.queues[frame.packet.priority].push({frame_index, now});
  port.not_empty |= 1U << frame.packet.priority;
  if (std::exchange(port.free_is_due, true)) return;
  events_.at(port.free_at_ps, EventKind::kPortFree, port_index);
}

void Fabric::port_free(std::uint32_t port_index) {
  Port& port = ports_[port_index];
  port.free_is_due = false;
  if (port.not_empty == 0) return;
  const auto priority = static_cast<unsigned>(std::bit_width(port.not_empty)) - 1;
  Ring<Waiting>& queue = port.queues[priority];
  const Waiting first = queue.pop();
  if (queue.empty()) port.not_empty &= ~(1U << priority);
  port.queued_bytes -= frames_.records[first.frame].wire_bytes;
  start(port_index, first);
}

void Fabric::start(std::uint32_t port_index, Waiting waiting) {
  Port& port = ports_[port_index];
  const Frame& frame = frames_.records[waiting.frame];
  const std::int64_t now = events_.now_ps();
  ++port.statistics.frames;
  port.statistics.bytes += frame.wire_bytes;
  port.statistics.waited_ps += now - waiting.since_ps;
  port.free_at_ps = now + std::llround(frame.wire_bytes * port.ps_per_byte);
  const std::int64_t after = port.next == EventKind::kAtSwitch ? switch_ps_ : host_ps_;
  events_.at(port.free_at_ps + link_ps_ + after, port.next, port.next_index, waiting.frame);
  if (port.not_empty == 0) return;
  port.free_is_due = true;
  events_.at(port.free_at_ps, EventKind::kPortFree, port_index);
}

Frame Fabric::take(std::uint32_t frame_index) {
  frames_.free.push_back(frame_index);
  return frames_.records[frame_index];
}

PortStatistics Fabric::total() const {
  PortStatistics total;
  for (const Port& port : ports_) {
    total.frames += port.statistics.frames;
    total.bytes += port.statistics.bytes;
    total.dropped += port.statistics.dropped;
    total.waited_ps += port.statistics.waited_ps;
    total.max_queued_bytes = std::max(total.max_queued_bytes, port.statistics.max_queued_bytes);
  }
  return total;
}

}  // namespace turntable::homa::simulation
