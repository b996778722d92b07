// Follows chosen packets through a switch whose program is compiled for tracing (trace.h): every
// pass through ingress and egress, every copy, and what becomes of each.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "dataplane/program.h"
#include "dataplane/program_trace.h"
#include "dataplane/replication.h"
#include "dataplane/trace_filter.h"

namespace turntable::dataplane {

class TracedPacket;

// One frame of a traced packet. Who has the frame has this, and calls end() once.
class TracedFrame {
 public:
  TracedFrame(TracedPacket& packet, int number) : packet_(packet), number_(number) {}

  // Instead of program.ingress(packet) and program.egress(packet).
  void ingress(Program& program, Packet& packet, std::uint64_t now_ns);
  void egress(Program& program, Packet& packet, std::uint64_t now_ns);

  // A further frame of the same packet; `why` is "copy" or "mirror".
  TracedFrame* copy(const char* why);

  // What happens to the frame outside of the program.
  void queued(const Replication::Copy& copy);
  void sent(std::uint16_t port, std::uint32_t bytes);
  void recirculated(std::uint16_t port);
  void dropped(std::uint16_t port, const char* reason);

  // The frame is gone. Of the packet's last one: the trace is complete.
  void end();

 private:
  void add(nlohmann::ordered_json step);

  TracedPacket& packet_;
  int number_;
};

// One thread, that of the pipeline.
class PacketTracer {
 public:
  using Json = nlohmann::ordered_json;
  // Takes every complete trace: docs/p4soft.md, "Traces".
  using Sink = std::function<void(const Json& trace)>;

  // Complete traces that wait for trace_read; then the oldest are lost.
  static constexpr std::size_t kMaxWaiting = 1000;

  // `program` is one of load_traced_program and outlives this object, as do frames not yet ended.
  PacketTracer(Program& program, TraceFilter filter, Sink sink);
  ~PacketTracer();

  // A frame arrives, with its metadata for ingress set. nullptr: it is not traced.
  // `realtime_ns`: CLOCK_REALTIME; 0: no time of day.
  TracedFrame* arrive(const Packet& packet, std::uint64_t now_ns, std::int64_t realtime_ns);

  // trace_start, trace_stop and trace_read (docs/p4soft.md, "Traces").
  static constexpr std::array kCommands = {"trace_start", "trace_stop", "trace_read"};
  nlohmann::json execute(std::string_view command, const nlohmann::json& args);

 private:
  friend class TracedPacket;
  void complete(TracedPacket& packet);
  nlohmann::json read(const nlohmann::json& args);

  Program& program_;
  TraceFilter filter_;
  Sink sink_;
  std::uint64_t packets_ = 0;
  std::list<TracedPacket> open_;
  std::deque<Json> waiting_;
  std::uint64_t lost_ = 0;
};

}  // namespace turntable::dataplane
