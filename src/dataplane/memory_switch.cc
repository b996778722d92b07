#include "dataplane/memory_switch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/control.h"
#include "dataplane/packet_generator_tables.h"
#include "dataplane/table_commands.h"

namespace turntable::dataplane {
namespace {

// A program that sends every packet round for ever would never end a test.
constexpr int kMaxPasses = 1000;

std::string bytes_of(const Packet& packet) {
  return {reinterpret_cast<const char*>(packet.data), packet.length};
}

}  // namespace

MemorySwitch::MemorySwitch(Program& program, PacketTracer* tracer)
    : program_(program),
      tracer_(tracer),
      fixed_tables_([this](const FixedTables::State& state) { replication_.configure(state); }),
      buffer_(kHeadroom + kMaxFrame + kHeadroom) {}

nlohmann::json MemorySwitch::execute(std::string_view command, const nlohmann::json& args) {
  if (tracer_ != nullptr && command.starts_with("trace_")) return tracer_->execute(command, args);
  if (command == "pktgen_write") return write_packet_generator(generator_, args, now_ns_);
  if (command == "pktgen_read") return read_packet_generator(generator_, args);
  program_.control().at(args.is_object() ? args.value("now_ns", now_ns_) : now_ns_);
  // Nothing arrives while a test waits.
  return run_table_command(fixed_tables_, program_.control(),
                           command == "digest_wait" ? "digest_read" : command, args);
}

std::vector<Frame> MemorySwitch::inject(const Frame& frame, std::uint64_t now_ns) {
  if (frame.bytes.size() > kMaxFrame) {
    throw bad_argument("a frame of " + std::to_string(frame.bytes.size()) +
                       " bytes is longer than " + std::to_string(kMaxFrame));
  }
  now_ns_ = now_ns;
  left_.clear();
  arrived_.clear();
  queued_.clear();
  arrived_.push_back({frame, nullptr});
  run();
  return std::move(left_);
}

std::vector<Frame> MemorySwitch::generate(std::uint64_t now_ns) {
  left_.clear();
  arrived_.clear();
  queued_.clear();
  while (generator_.next_due_ns() <= now_ns) {
    now_ns_ = generator_.next_due_ns();
    generator_.generate(now_ns_, 1,
                        [this](std::uint16_t port, std::span<const std::uint8_t> bytes) {
                          arrived_.push_back({{port, {bytes.begin(), bytes.end()}}, nullptr});
                        });
    run();
  }
  now_ns_ = now_ns;
  return std::move(left_);
}

// Until nothing is on its way any more.
void MemorySwitch::run() {
  for (int passes = 0; !arrived_.empty(); ++passes) {
    if (passes == kMaxPasses) throw bad_argument("the program recirculates this frame for ever");
    Arrived next = std::move(arrived_.front());
    arrived_.pop_front();
    ingress(next);
    while (!queued_.empty()) {
      const Queued next_copy = std::move(queued_.front());
      queued_.pop_front();
      egress(next_copy);
    }
  }
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

void MemorySwitch::ingress(const Arrived& arrived) {
  Packet packet = load(arrived.frame.bytes);
  packet.ingress_port = arrived.frame.port;
  packet.ingress_mac_tstamp_ns = now_ns_;
  TracedFrame* trace = arrived.trace;
  if (tracer_ != nullptr && trace == nullptr) trace = tracer_->arrive(packet, now_ns_, 0);
  run_ingress(packet, trace);
  if (packet.resubmit) {
    packet.resubmitted = true;
    run_ingress(packet, trace);
  }
  forward(packet, trace);
}

void MemorySwitch::run_ingress(Packet& packet, TracedFrame* trace) {
  if (trace == nullptr) {
    program_.ingress(packet);
  } else {
    trace->ingress(program_, packet, now_ns_);
  }
  if (packet.mirrored) mirror(packet, true, trace);
}

void MemorySwitch::forward(const Packet& packet, TracedFrame* trace) {
  replication_.copies_of(packet, copies_);
  if (trace != nullptr && copies_.empty()) {
    const bool is_dropped = (packet.drop_ctl & kDropFrame) != 0;
    trace->dropped(packet.ingress_port, is_dropped ? "ingress_drop" : "no_destination");
    trace->end();
  }
  queue(bytes_of(packet), trace);
}

void MemorySwitch::mirror(const Packet& packet, bool from_ingress, TracedFrame* trace) {
  const MirrorCopy& wanted = program_.mirror_copy();
  const Replication::Session* session = replication_.mirror_copies(wanted, from_ingress, copies_);
  if (session == nullptr || copies_.empty()) return;
  std::string bytes(kMaxFrame, '\0');
  bytes.resize(write_mirror_copy(wanted, packet, session->max_length,
                                 reinterpret_cast<std::uint8_t*>(bytes.data())));
  queue(bytes, trace == nullptr ? nullptr : trace->copy("mirror"));
}

// One frame per copy of copies_; the last one is the traced frame itself, the others its copies.
void MemorySwitch::queue(const std::string& bytes, TracedFrame* trace) {
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    const bool is_last = i + 1 == copies_.size();
    TracedFrame* const traced = trace == nullptr || is_last ? trace : trace->copy("copy");
    if (traced != nullptr) traced->queued(copies_[i]);
    queued_.push_back({bytes, copies_[i], traced});
  }
}

void MemorySwitch::egress(const Queued& queued) {
  const Replication::Copy& copy = queued.copy;
  if (copy.bypass_egress) return leave(copy.port, queued.bytes, queued.trace);
  Packet packet = load(queued.bytes);
  packet.egress_port = copy.port;
  packet.egress_rid = copy.rid;
  packet.egress_rid_first = copy.is_first_of_rid;
  packet.qid = queue_of(copy.qid);
  packet.enq_tstamp_ns = now_ns_;
  if (queued.trace == nullptr) {
    program_.egress(packet);
  } else {
    queued.trace->egress(program_, packet, now_ns_);
  }
  const bool dropped = (packet.drop_ctl & kDropFrame) != 0;
  const std::string bytes = bytes_of(packet);
  if (packet.mirrored) mirror(packet, false, queued.trace);
  if (!dropped) return leave(copy.port, bytes, queued.trace);
  if (queued.trace != nullptr) {
    queued.trace->dropped(copy.port, "egress_drop");
    queued.trace->end();
  }
}

void MemorySwitch::leave(std::uint16_t port, std::string bytes, TracedFrame* trace) {
  if (is_recirculation_port(port)) {
    if (trace != nullptr) trace->recirculated(port);
    generator_.recirculated(
        port, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, now_ns_);
    arrived_.push_back({{port, std::move(bytes)}, trace});
    return;
  }
  if (trace != nullptr) {
    trace->sent(port, static_cast<std::uint32_t>(bytes.size()));
    trace->end();
  }
  left_.push_back({port, std::move(bytes)});
}

}  // namespace turntable::dataplane
