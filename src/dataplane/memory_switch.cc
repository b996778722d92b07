#include "dataplane/memory_switch.h"

#include <algorithm>

#include "common/command_error.h"
#include "dataplane/control.h"

namespace turntable::dataplane {
namespace {

// A program that sends every packet round for ever would never end a test.
constexpr int kMaxPasses = 1000;

std::string bytes_of(const Packet& packet) {
  return {reinterpret_cast<const char*>(packet.data), packet.length};
}

}  // namespace

MemorySwitch::MemorySwitch(Program& program)
    : program_(program),
      fixed_tables_([this](const FixedTables::State& state) { replication_.configure(state); }),
      buffer_(kHeadroom + kMaxFrame + kHeadroom) {}

nlohmann::json MemorySwitch::execute(std::string_view command, const nlohmann::json& args) {
  if (FixedTables::concerns(args)) return fixed_tables_.execute(command, args);
  return program_.control().execute(command, args);
}

std::vector<Frame> MemorySwitch::inject(const Frame& frame, std::uint64_t now_ns) {
  if (frame.bytes.size() > kMaxFrame) {
    throw bad_argument("a frame of " + std::to_string(frame.bytes.size()) +
                       " bytes is longer than " + std::to_string(kMaxFrame));
  }
  now_ns_ = now_ns;
  left_.clear();
  arrived_ = {frame};
  queued_.clear();
  for (int passes = 0; !arrived_.empty(); ++passes) {
    if (passes == kMaxPasses) throw bad_argument("the program recirculates this frame for ever");
    const Frame next = std::move(arrived_.front());
    arrived_.pop_front();
    ingress(next);
    while (!queued_.empty()) {
      const Copy copy = std::move(queued_.front());
      queued_.pop_front();
      egress(copy);
    }
  }
  return std::move(left_);
}

Packet MemorySwitch::load(const std::string& bytes) {
  std::copy(bytes.begin(), bytes.end(), buffer_.begin() + kHeadroom);
  Packet packet;
  packet.data = buffer_.data() + kHeadroom;
  packet.length = static_cast<std::uint32_t>(bytes.size());
  packet.headroom = kHeadroom;
  packet.tailroom = static_cast<std::uint32_t>(buffer_.size() - kHeadroom - packet.length);
  return packet;
}

void MemorySwitch::ingress(const Frame& frame) {
  Packet packet = load(frame.bytes);
  packet.ingress_port = frame.port;
  packet.ingress_mac_tstamp_ns = now_ns_;
  program_.ingress(packet);
  if (packet.mirrored) mirror(packet, true);
  if (packet.resubmit) {
    packet.resubmitted = true;
    program_.ingress(packet);
    if (packet.mirrored) mirror(packet, true);
  }
  replicate(packet);
}

void MemorySwitch::replicate(const Packet& packet) {
  const std::string bytes = bytes_of(packet);
  const auto queue = [&](std::uint16_t port, std::uint16_t rid) {
    queued_.push_back({bytes, port, rid, packet.qid, packet.bypass_egress});
  };
  if ((packet.drop_ctl & kDropFrame) == 0) {
    if (packet.has_ucast_egress_port) queue(packet.ucast_egress_port, 0);
    replication_.multicast(packet, multicast_copies_);
    for (const auto& copy : multicast_copies_) queue(copy.port, copy.rid);
  }
  const bool to_cpu = packet.copy_to_cpu && (packet.drop_ctl & kDropCopyToCpu) == 0;
  if (to_cpu && replication_.copies_to_cpu()) queue(replication_.cpu_port(), 0);
}

void MemorySwitch::mirror(const Packet& packet, bool from_ingress) {
  const MirrorCopy& wanted = program_.mirror_copy();
  const Replication::Session* session = replication_.session(wanted.session);
  if (session == nullptr || !(from_ingress ? session->ingress : session->egress)) return;
  std::string bytes(kMaxFrame, '\0');
  bytes.resize(write_mirror_copy(wanted, packet, session->max_length,
                                 reinterpret_cast<std::uint8_t*>(bytes.data())));
  if (session->has_port) queued_.push_back({bytes, session->port, 0, session->qid, false});
  Packet groups;
  groups.mcast_grp_a = session->groups[0];
  groups.mcast_grp_b = session->groups[1];
  groups.rid = session->rid;
  replication_.multicast(groups, multicast_copies_);
  for (const auto& copy : multicast_copies_)
    queued_.push_back({bytes, copy.port, copy.rid, session->qid, false});
}

void MemorySwitch::egress(const Copy& copy) {
  if (copy.bypass_egress) return leave(copy.port, copy.bytes);
  Packet packet = load(copy.bytes);
  packet.egress_port = copy.port;
  packet.egress_rid = copy.rid;
  packet.qid = copy.qid;
  packet.enq_tstamp_ns = now_ns_;
  program_.egress(packet);
  const bool dropped = (packet.drop_ctl & kDropFrame) != 0;
  const std::string bytes = bytes_of(packet);
  if (packet.mirrored) mirror(packet, false);
  if (!dropped) leave(copy.port, bytes);
}

void MemorySwitch::leave(std::uint16_t port, std::string bytes) {
  if (is_recirculation_port(port)) {
    arrived_.push_back({port, std::move(bytes)});
  } else {
    left_.push_back({port, std::move(bytes)});
  }
}

}  // namespace turntable::dataplane
