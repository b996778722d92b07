// From one frame that left ingress, or asked for a mirror copy, to frames in the queues of ports.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/replication.h"
#include "softswitch/frame_pool.h"
#include "softswitch/port.h"
#include "softswitch/traffic_manager.h"

namespace turntable::softswitch {

// The pipeline thread only. Copies are frames of the pool with their bytes copied; one that finds
// the pool empty is a counted drop.
class Replicator {
 public:
  Replicator(FramePool& pool, TrafficManager& traffic_manager);

  // The packet replication engine and mirror sessions.
  dataplane::Replication& replication() { return replication_; }

  // Takes a frame after ingress. Drops are counted at `ingress`.
  void forward(Frame* frame, Port& ingress, std::uint64_t now_ns);

  // Queues the mirror copies of `frame`, which stays the caller's. Drops are counted at `origin`.
  void mirror(const dataplane::MirrorCopy& copy, const Frame& frame, bool from_ingress,
              Port& origin, std::uint64_t now_ns);

 private:
  void forward_copies(Frame* frame, Port& ingress, std::uint64_t now_ns);
  void lose_copy(const Frame& frame, Port& origin, const char* kind);
  void enqueue_copies(Frame* frame, Port& origin, std::uint64_t now_ns);

  FramePool& pool_;
  TrafficManager& traffic_manager_;
  dataplane::Replication replication_;
  std::vector<dataplane::Replication::Copy> copies_;
};

}  // namespace turntable::softswitch
