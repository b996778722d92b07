#include "softswitch/replicator.h"

namespace turntable::softswitch {
namespace {

using dataplane::kDropFrame;
using dataplane::Replication;

constexpr std::size_t kUsualCopies = 512;  // more in one packet make the list grow once

}  // namespace

Replicator::Replicator(FramePool& pool, TrafficManager& traffic_manager)
    : pool_(pool), traffic_manager_(traffic_manager) {
  copies_.reserve(kUsualCopies);
}

void Replicator::forward(Frame* frame, Port& ingress, std::uint64_t now_ns) {
  const dataplane::Packet& packet = frame->packet;
  if (Replication::is_wanted(packet)) {
    forward_copies(frame, ingress, now_ns);
  } else if ((packet.drop_ctl & kDropFrame) != 0) {
    count_drop(*frame, ingress, DropReason::kIngressDrop);
    pool_.release(frame);
  } else if (!packet.has_ucast_egress_port) {
    count_drop(*frame, ingress, DropReason::kNoDestination);
    pool_.release(frame);
  } else {
    traffic_manager_.enqueue(frame, {packet.ucast_egress_port, 0, packet.qid, packet.bypass_egress},
                             ingress, now_ns);
  }
}

void Replicator::forward_copies(Frame* frame, Port& ingress, std::uint64_t now_ns) {
  const bool dropped = (frame->packet.drop_ctl & kDropFrame) != 0;
  if (dropped) count_drop(*frame, ingress, DropReason::kIngressDrop);
  replication_.copies_of(frame->packet, copies_);
  if (copies_.empty()) {
    if (!dropped) count_drop(*frame, ingress, DropReason::kNoDestination);
    pool_.release(frame);
  } else {
    enqueue_copies(frame, ingress, now_ns);
  }
}

// No free frame was left for a copy of this one.
void Replicator::lose_copy(const Frame& frame, Port& origin, const char* kind) {
  origin.counters().drop(DropReason::kNoBuffer);
  if (frame.trace == nullptr) return;
  dataplane::TracedFrame* const lost = frame.trace->copy(kind);
  lost->dropped(origin.number(), name_of(DropReason::kNoBuffer));
  lost->end();
}

// The last copy is the frame itself; copies_ is not empty. All are made before that one is given
// away.
void Replicator::enqueue_copies(Frame* frame, Port& origin, std::uint64_t now_ns) {
  for (std::size_t i = 0; i + 1 < copies_.size(); ++i) {
    if (Frame* const copy = pool_.acquire(); copy == nullptr) {
      lose_copy(*frame, origin, "copy");
    } else {
      copy->copy_bytes(*frame);
      traffic_manager_.enqueue(copy, copies_[i], origin, now_ns);
    }
  }
  traffic_manager_.enqueue(frame, copies_.back(), origin, now_ns);
}

void Replicator::mirror(const dataplane::MirrorCopy& copy, const Frame& frame, bool from_ingress,
                        Port& origin, std::uint64_t now_ns) {
  const Replication::Session* session = replication_.mirror_copies(copy, from_ingress, copies_);
  if (session == nullptr || copies_.empty()) return;
  Frame* const mirrored = pool_.acquire();
  if (mirrored == nullptr) {
    for (std::size_t i = 0; i < copies_.size(); ++i) lose_copy(frame, origin, "mirror");
    return;
  }
  if (frame.trace != nullptr) mirrored->trace = frame.trace->copy("mirror");
  mirrored->reset(dataplane::write_mirror_copy(copy, frame.packet, session->max_length,
                                               mirrored->buffer + dataplane::kHeadroom));
  enqueue_copies(mirrored, origin, now_ns);
}

}  // namespace turntable::softswitch
