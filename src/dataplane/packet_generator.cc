#include "dataplane/packet_generator.h"

#include <algorithm>

namespace turntable::dataplane {
namespace {

constexpr std::size_t kMaxPending = 64;
constexpr std::uint32_t kToldMask = 0xFFFFFF;
// Later than this, a timer skips what it has missed: a machine that cannot keep up must not fall
// behind for ever.
constexpr std::uint64_t kMaxLatenessNs = 100'000'000;

std::uint32_t pipe_of(std::uint16_t port) {
  return port / kPortsPerPipe;
}

}  // namespace

void PacketGenerator::configure(State next, std::uint64_t now_ns) {
  for (std::uint32_t pipe = 0; pipe < kPipes; ++pipe) {
    for (std::uint32_t number = 0; number < kApplications; ++number) {
      const bool was_enabled = state_.pipes[pipe].applications[number].enabled;
      const Application& application = next.pipes[pipe].applications[number];
      if (application.enabled == was_enabled) continue;
      Run& run = runs_[pipe][number] = Run{};
      if (application.enabled && application.has_timer())
        run.timer_ns = now_ns + application.timer_ns;
    }
  }
  state_ = std::move(next);
}

bool PacketGenerator::generates(std::uint32_t pipe) const {
  return pipe < kPipes &&
         state_.ports[std::size_t{pipe} * kPortsPerPipe + kFirstRecirculationPort].generates;
}

void PacketGenerator::ask(std::uint32_t pipe, std::uint32_t number, Pending trigger) {
  auto& pending = runs_[pipe][number].pending;
  if (pending.size() < kMaxPending) pending.push_back(trigger);
}

void PacketGenerator::port_down(std::uint16_t port, std::uint64_t now_ns) {
  const std::uint32_t pipe = pipe_of(port);
  if (!generates(pipe) || !state_.ports[port].tells_port_down) return;
  for (std::uint32_t number = 0; number < kApplications; ++number) {
    const Application& application = state_.pipes[pipe].applications[number];
    if (!application.enabled || application.trigger != Trigger::kPortDown) continue;
    ask(pipe, number, {now_ns, port});
    state_.ports[port].tells_port_down = false;
  }
}

void PacketGenerator::recirculated(std::uint16_t port, std::span<const std::uint8_t> bytes,
                                   std::uint64_t now_ns) {
  const std::uint32_t pipe = pipe_of(port);
  if (!generates(pipe) || !state_.ports[port].matches_patterns || bytes.size() < 4) return;
  std::uint32_t first = 0;
  for (const std::uint8_t byte : bytes.first(4)) first = first << 8 | byte;
  for (std::uint32_t number = 0; number < kApplications; ++number) {
    const Application& application = state_.pipes[pipe].applications[number];
    const bool matches = ((first ^ application.pattern_value) & application.pattern_mask) == 0;
    if (application.enabled && application.trigger == Trigger::kRecirculation && matches)
      ask(pipe, number, {now_ns, first & kToldMask});
  }
}

std::uint64_t PacketGenerator::due_ns(const Run& run) {
  if (run.progress) return run.progress->next_ns;
  const std::uint64_t due_ns =
      std::min(run.timer_ns, run.pending.empty() ? kNever : run.pending.front().due_ns);
  return std::max(due_ns, run.last_ns);
}

std::uint64_t PacketGenerator::next_due_ns() const {
  std::uint64_t next_ns = kNever;
  for (std::uint32_t pipe = 0; pipe < kPipes; ++pipe) {
    if (!generates(pipe)) continue;
    for (const Run& run : runs_[pipe]) next_ns = std::min(next_ns, due_ns(run));
  }
  return next_ns;
}

bool PacketGenerator::generate(std::uint64_t now_ns, std::size_t limit, const Emit& emit) {
  bool worked = false;
  for (; limit > 0; --limit) {
    std::uint64_t first_ns = kNever;
    std::uint32_t first_pipe = 0, first_number = 0;
    for (std::uint32_t pipe = 0; pipe < kPipes; ++pipe) {
      for (std::uint32_t number = 0; generates(pipe) && number < kApplications; ++number) {
        const std::uint64_t at_ns = due_ns(runs_[pipe][number]);
        if (at_ns < first_ns) first_ns = at_ns, first_pipe = pipe, first_number = number;
      }
    }
    if (first_ns == kNever || first_ns > now_ns) break;
    Run& run = runs_[first_pipe][first_number];
    if (!run.progress) begin(state_.pipes[first_pipe].applications[first_number], run, now_ns);
    emit_next(first_pipe, first_number, emit);
    worked = true;
  }
  return worked;
}

// A trigger that is due becomes the run's progress.
void PacketGenerator::begin(Application& application, Run& run, std::uint64_t now_ns) const {
  std::uint64_t due = run.timer_ns;
  std::uint32_t told = 0;
  if (!run.pending.empty()) {
    due = run.pending.front().due_ns;
    told = run.pending.front().told;
    run.pending.pop_front();
  } else if (application.trigger == Trigger::kOneShot) {
    run.timer_ns = kNever;
  } else {
    const std::uint64_t period_ns = std::max(application.timer_ns, std::uint32_t{1});
    run.timer_ns = due + period_ns;
    if (now_ns > run.timer_ns + kMaxLatenessNs)
      run.timer_ns = now_ns - (now_ns - run.timer_ns) % period_ns;
  }
  ++application.trigger_count;
  due = std::max(due, run.last_ns);  // it may have waited
  run.progress = Progress{told, due, due};
}

void PacketGenerator::emit_next(std::uint32_t pipe, std::uint32_t number, const Emit& emit) {
  Application& application = state_.pipes[pipe].applications[number];
  Run& run = runs_[pipe][number];
  const Progress at = *run.progress;
  const std::uint32_t middle = application.has_timer() ? at.batch : at.told;

  std::vector<std::uint8_t> bytes = {
      static_cast<std::uint8_t>(pipe << 3 | number), static_cast<std::uint8_t>(middle >> 16),
      static_cast<std::uint8_t>(middle >> 8),        static_cast<std::uint8_t>(middle),
      static_cast<std::uint8_t>(at.packet >> 8),     static_cast<std::uint8_t>(at.packet)};
  const auto packet = state_.pipes[pipe].buffer.begin() + application.offset;
  bytes.insert(bytes.end(), packet, packet + application.length);
  const std::uint32_t port =
      application.source_port + (application.increments_source_port ? at.packet : 0);

  run.last_ns = at.next_ns;
  // Before the packet goes: it may be what triggers the next one.
  ++application.packet_count;
  if (at.packet == 0) ++application.batch_count;
  if (at.packet + 1 < application.packets) {
    ++run.progress->packet;
    run.progress->next_ns = at.next_ns + application.packet_gap_ns;
  } else if (at.batch + 1 < application.batches) {
    const std::uint64_t next_ns =
        std::max(at.batch_began_ns + application.batch_gap_ns, at.next_ns);
    run.progress = Progress{at.told, next_ns, next_ns, at.batch + 1, 0};
  } else {
    run.progress.reset();
  }
  emit(static_cast<std::uint16_t>(pipe * kPortsPerPipe + port), bytes);
}

}  // namespace turntable::dataplane
