// The packet generators of a Tofino 1: each pipe has eight applications, which make copies of a
// packet in the pipe's buffer when their trigger comes, and put six bytes before them that say
// which copy it is (pktgen_timer_header_t and the like). They go through ingress as if they had
// come by a port of that pipe.
//
// Configured by packet_generator_tables.h.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/port_numbers.h"

namespace turntable::dataplane {

// One thread. Times are those of one clock, in ns.
class PacketGenerator {
 public:
  static constexpr std::uint32_t kApplications = 8;
  static constexpr std::uint32_t kBufferBytes = 16384;
  static constexpr std::uint32_t kHeaderBytes = 6;
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  enum class Trigger : std::uint8_t { kOneShot, kPeriodic, kPortDown, kRecirculation };

  struct Application {
    bool enabled = false;
    Trigger trigger = Trigger::kOneShot;
    std::uint32_t timer_ns = 0;
    std::uint32_t pattern_value = 0;  // of the first four bytes of a recirculated packet
    std::uint32_t pattern_mask = 0;
    std::uint32_t length = 64;  // bytes from the buffer
    std::uint32_t offset = 0;
    std::uint32_t source_port = kFirstRecirculationPort;  // in its pipe
    bool increments_source_port = false;                  // with each packet of a batch
    std::uint32_t batches = 1;
    std::uint32_t packets = 1;       // of a batch
    std::uint32_t batch_gap_ns = 0;  // between the beginnings of two
    std::uint32_t packet_gap_ns = 0;
    std::uint64_t trigger_count = 0;
    std::uint64_t batch_count = 0;
    std::uint64_t packet_count = 0;

    bool has_timer() const { return trigger == Trigger::kOneShot || trigger == Trigger::kPeriodic; }
  };
  struct Pipe {
    std::array<Application, kApplications> applications;
    std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(kBufferBytes);
  };
  struct PortState {
    bool generates = false;         // pktgen_enable, of port 68 of a pipe
    bool matches_patterns = false;  // packets recirculated here are compared
    bool tells_port_down = false;   // once; then it is false again
  };
  struct State {
    std::array<Pipe, kPipes> pipes;
    std::array<PortState, std::size_t{kPipes} * kPortsPerPipe> ports;
  };

  const State& state() const { return state_; }
  // Timers of applications that are enabled now and were not begin at `now_ns`; what those that are
  // not enabled any more had begun ends.
  void configure(State next, std::uint64_t now_ns);

  // When generate() has work; kNever: nothing without another trigger.
  std::uint64_t next_due_ns() const;

  // A generated packet, header and all; the bytes are valid during the call.
  using Emit = std::function<void(std::uint16_t ingress_port, std::span<const std::uint8_t> bytes)>;
  // Emits what is due, in order of time, at most `limit` packets. False: nothing was due.
  bool generate(std::uint64_t now_ns, std::size_t limit, const Emit& emit);

  void port_down(std::uint16_t port, std::uint64_t now_ns);
  void recirculated(std::uint16_t port, std::span<const std::uint8_t> bytes, std::uint64_t now_ns);

 private:
  // `told`: the 24 bits behind the header's first byte, of triggers that say something.
  struct Pending {
    std::uint64_t due_ns;
    std::uint32_t told;
  };
  struct Progress {
    std::uint32_t told;
    std::uint64_t batch_began_ns;
    std::uint64_t next_ns;
    std::uint32_t batch = 0;
    std::uint32_t packet = 0;
  };
  // What an application has begun.
  struct Run {
    std::uint64_t timer_ns = kNever;  // when it fires next
    std::deque<Pending> pending;      // triggers that came meanwhile
    std::optional<Progress> progress;
    std::uint64_t last_ns = 0;  // when the packet before was due
  };

  bool generates(std::uint32_t pipe) const;
  void ask(std::uint32_t pipe, std::uint32_t number, Pending trigger);
  static std::uint64_t due_ns(const Run& run);
  void begin(Application& application, Run& run, std::uint64_t now_ns) const;
  void emit_next(std::uint32_t pipe, std::uint32_t number, const Emit& emit);

  State state_;
  std::array<std::array<Run, kApplications>, kPipes> runs_;
};

}  // namespace turntable::dataplane
