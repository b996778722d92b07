// A switch in memory for packet tests: one program, no links, no queues, no time. It replicates,
// mirrors, resubmits and recirculates as softswitch does.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "dataplane/fixed_tables.h"
#include "dataplane/packet_generator.h"
#include "dataplane/packet_tracer.h"
#include "dataplane/program.h"
#include "dataplane/replication.h"

namespace turntable::dataplane {

struct Frame {
  std::uint16_t port;
  std::string bytes;
};

class MemorySwitch {
 public:
  // With a tracer, `program` is one of load_traced_program.
  explicit MemorySwitch(Program& program, PacketTracer* tracer = nullptr);

  // What leaves the switch because of one frame that arrives at `port` at `now_ns`.
  std::vector<Frame> inject(const Frame& frame, std::uint64_t now_ns = 0);

  // What leaves because of the packets that generators make until `now_ns`. Between two frames that
  // are injected nothing is generated: no time passes.
  std::vector<Frame> generate(std::uint64_t now_ns);

  // The program's commands, and those of the fixed tables and packet generators.
  nlohmann::json execute(std::string_view command, const nlohmann::json& args);

 private:
  // A frame before ingress.
  struct Arrived {
    Frame frame;
    TracedFrame* trace;  // nullptr: it is not traced
  };
  // A frame on its way through egress.
  struct Queued {
    std::string bytes;
    Replication::Copy copy;
    TracedFrame* trace;
  };

  void run();
  Packet load(const std::string& bytes);
  void ingress(const Arrived& arrived);
  void run_ingress(Packet& packet, TracedFrame* trace);
  void forward(const Packet& packet, TracedFrame* trace);
  void mirror(const Packet& packet, bool from_ingress, TracedFrame* trace);
  void queue(const std::string& bytes, TracedFrame* trace);
  void egress(const Queued& queued);
  void leave(std::uint16_t port, std::string bytes, TracedFrame* trace);

  Program& program_;
  PacketTracer* tracer_;
  Replication replication_;
  FixedTables fixed_tables_;
  PacketGenerator generator_;
  std::vector<std::uint8_t> buffer_;
  std::vector<Replication::Copy> copies_;
  std::uint64_t now_ns_ = 0;
  std::deque<Arrived> arrived_;
  std::deque<Queued> queued_;
  std::vector<Frame> left_;
};

}  // namespace turntable::dataplane
