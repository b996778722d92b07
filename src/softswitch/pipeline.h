// Takes frames through ingress, traffic manager and egress, and out.
#pragma once

#include <cstdint>
#include <span>

#include "dataplane/program.h"
#include "softswitch/frame_pool.h"
#include "softswitch/port.h"
#include "softswitch/traffic_manager.h"

namespace turntable::softswitch {

// The pipeline thread only.
class Pipeline {
 public:
  Pipeline(dataplane::Program& program, const PortTable& ports, FramePool& pool);

  // Frames that `port` received, in order. Takes their ownership. They may be sent only by the next
  // flush().
  void process(std::span<Frame* const> frames, Port& port);

  // Sends everything the traffic manager has, in batches per egress port.
  void flush();

  // An artificial cost per packet, for negative checks: the pipeline thread is busy for this long
  // with every packet before it leaves, one packet after the other, in addition to the packet's
  // real cost. 0: none.
  void set_processing_delay_ns(std::uint64_t delay_ns) { processing_delay_ns_ = delay_ns; }
  std::uint64_t processing_delay_ns() const { return processing_delay_ns_; }

 private:
  void process_delayed(std::span<Frame* const> frames, Port& port);
  void ingress(Frame* frame, Port& port, std::uint64_t now_ns);
  bool egress(Frame* frame);
  void send_all(Port& port, std::uint64_t now_ns);

  dataplane::Program& program_;
  FramePool& pool_;
  TrafficManager traffic_manager_;
  std::uint64_t processing_delay_ns_ = 0;
};

}  // namespace turntable::softswitch
