// Takes frames through ingress, traffic manager and egress, and out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/packet_generator.h"
#include "dataplane/program.h"
#include "softswitch/frame_pool.h"
#include "softswitch/impairments.h"
#include "softswitch/port.h"
#include "softswitch/replicator.h"
#include "softswitch/timeline.h"
#include "softswitch/traffic_manager.h"

namespace turntable::softswitch {

// The pipeline thread only.
class Pipeline {
 public:
  Pipeline(dataplane::Program& program, const PortTable& ports, FramePool& pool);

  // Frames that `port` received, in order. Takes their ownership. They may be sent only by the next
  // flush().
  void process(std::span<Frame* const> frames, Port& port);

  // Sends everything that is due, in batches per egress port. What egress mirrors and what
  // recirculates goes round up to kMaxRounds times; a program that sends frames round for ever thus
  // leaves time for ports and commands.
  void flush();

  // When flush() has work again if nothing arrives: kNever, or 0 for at once.
  std::uint64_t next_due_ns() const;

  TrafficManager& traffic_manager() { return traffic_manager_; }
  dataplane::Replication& replication() { return replicator_.replication(); }
  Impairments& impairments() { return impairments_; }
  dataplane::PacketGenerator& packet_generator() { return packet_generator_; }

  // From now on this program, between two batches. Frames that wait in queues leave through its
  // egress, as whatever it makes of them.
  void run_program(dataplane::Program& program) { program_ = &program; }

  // Before the first frame: traces packets. The program is one of load_traced_program.
  void trace_with(dataplane::PacketTracer& tracer) { tracer_ = &tracer; }

  // An artificial cost per packet, for negative checks: the pipeline thread is busy for this long
  // with every packet before it leaves, one packet after the other, in addition to the packet's
  // real cost. 0: none.
  void set_processing_delay_ns(std::uint64_t delay_ns) { processing_delay_ns_ = delay_ns; }
  std::uint64_t processing_delay_ns() const { return processing_delay_ns_; }

 private:
  static constexpr int kMaxRounds = 64;

  void ingress_all(std::span<Frame* const> frames, Port& port);
  void ingress_delayed(std::span<Frame* const> frames, Port& port);
  void ingress(Frame* frame, Port& port, std::uint64_t now_ns) {
    ingress(frame, port.number(), port, now_ns);
  }
  void ingress(Frame* frame, std::uint16_t ingress_port, Port& port, std::uint64_t now_ns);
  void run_ingress(Frame& frame, Port& port, std::uint64_t now_ns);
  bool run_round();
  bool release_delayed(std::uint64_t now_ns);
  bool release_impaired(std::uint64_t now_ns);
  bool take_recirculated();
  bool generate(std::uint64_t now_ns);
  void serve(Port& port, std::uint64_t now_ns);
  bool egress(Frame* frame, Port& port, std::uint64_t now_ns);
  void leave(std::span<Frame* const> frames, Port& port);
  void recirculate(std::span<Frame* const> frames, Port& port);
  void send(std::span<Frame* const> frames, Port& port);
  void send_now(std::span<Frame* const> frames, Port& port);

  dataplane::Program* program_;
  const PortTable& ports_;
  FramePool& pool_;
  TrafficManager traffic_manager_;
  Replicator replicator_;
  Impairments impairments_;
  dataplane::PacketGenerator packet_generator_;
  Timeline in_flight_;                // between a port and the far end of its delay
  std::vector<Frame*> recirculated_;  // left egress for a recirculation port
  std::vector<Frame*> arriving_;      // the same, being taken through ingress
  std::vector<Frame*> received_;      // what the impairment of a receiving port lets go on
  std::vector<Frame*> sent_;          // and that of a sending port
  std::uint64_t processing_delay_ns_ = 0;
  dataplane::PacketTracer* tracer_ = nullptr;  // nullptr: nothing is traced
};

}  // namespace turntable::softswitch
