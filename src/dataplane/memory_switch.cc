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
  // Nothing arrives while a test waits.
  return program_.control().execute(command == "digest_wait" ? "digest_read" : command, args);
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
      const Queued next_copy = std::move(queued_.front());
      queued_.pop_front();
      egress(next_copy);
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
  replication_.copies_of(packet, copies_);
  queue(bytes_of(packet));
}

void MemorySwitch::mirror(const Packet& packet, bool from_ingress) {
  const MirrorCopy& wanted = program_.mirror_copy();
  const Replication::Session* session = replication_.mirror_copies(wanted, from_ingress, copies_);
  if (session == nullptr) return;
  std::string bytes(kMaxFrame, '\0');
  bytes.resize(write_mirror_copy(wanted, packet, session->max_length,
                                 reinterpret_cast<std::uint8_t*>(bytes.data())));
  queue(bytes);
}

// One frame per copy of copies_.
void MemorySwitch::queue(const std::string& bytes) {
  for (const auto& copy : copies_) queued_.push_back({bytes, copy});
}

void MemorySwitch::egress(const Queued& queued) {
  const Replication::Copy& copy = queued.copy;
  if (copy.bypass_egress) return leave(copy.port, queued.bytes);
  Packet packet = load(queued.bytes);
  packet.egress_port = copy.port;
  packet.egress_rid = copy.rid;
  packet.qid = queue_of(copy.qid);
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
