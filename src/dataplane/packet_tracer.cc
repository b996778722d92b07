#include "dataplane/packet_tracer.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/trace_text.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string hex(const std::uint8_t* bytes, std::size_t count) {
  std::string text(2 * count, '\0');
  for (std::size_t i = 0; i < count; ++i) std::snprintf(&text[2 * i], 3, "%02x", bytes[i]);
  return text;
}

// What ingress decided for the traffic manager; only what was asked for.
OrderedJson ingress_decision(const Packet& packet) {
  OrderedJson decision = OrderedJson::object();
  if (packet.parser_error != 0) decision["parser_err"] = packet.parser_error;
  if (packet.drop_ctl != 0) decision["drop_ctl"] = packet.drop_ctl;
  if (packet.resubmit) decision["resubmit"] = true;
  if (packet.mirrored) decision["mirror"] = true;
  if (packet.has_ucast_egress_port) decision["ucast_egress_port"] = packet.ucast_egress_port;
  if (packet.mcast_grp_a != 0) decision["mcast_grp_a"] = packet.mcast_grp_a;
  if (packet.mcast_grp_b != 0) decision["mcast_grp_b"] = packet.mcast_grp_b;
  if ((packet.mcast_grp_a | packet.mcast_grp_b) != 0) {
    decision["rid"] = packet.rid;
    decision["level1_exclusion_id"] = packet.level1_exclusion_id;
    decision["level2_exclusion_id"] = packet.level2_exclusion_id;
  }
  if (packet.copy_to_cpu) decision["copy_to_cpu"] = true;
  if (packet.qid != 0) decision["qid"] = packet.qid;
  if (packet.bypass_egress) decision["bypass_egress"] = true;
  return decision;
}

OrderedJson egress_decision(const Packet& packet) {
  OrderedJson decision = OrderedJson::object();
  if (packet.parser_error != 0) decision["parser_err"] = packet.parser_error;
  if (packet.drop_ctl != 0) decision["drop_ctl"] = packet.drop_ctl;
  if (packet.mirrored) decision["mirror"] = true;
  return decision;
}

}  // namespace

class TracedPacket {
 public:
  TracedPacket(PacketTracer& tracer, OrderedJson trace, std::uint64_t now_ns)
      : tracer_(tracer), trace_(std::move(trace)), arrived_ns_(now_ns) {
    trace_["steps"] = OrderedJson::array();
  }

  TracedFrame* add_frame() {
    ++open_frames_;
    return &frames_.emplace_back(*this, static_cast<int>(frames_.size()) + 1);
  }
  void add_step(OrderedJson step) { trace_["steps"].push_back(std::move(step)); }
  void end_frame() {
    if (--open_frames_ == 0) tracer_.complete(*this);
  }
  std::int64_t since_arrival_ns(std::uint64_t now_ns) const {
    return static_cast<std::int64_t>(now_ns - arrived_ns_);
  }
  OrderedJson& trace() { return trace_; }

 private:
  PacketTracer& tracer_;
  OrderedJson trace_;
  std::uint64_t arrived_ns_;
  std::deque<TracedFrame> frames_;
  int open_frames_ = 0;
};

void TracedFrame::add(OrderedJson step) {
  step["frame"] = number_;
  packet_.add_step(std::move(step));
}

void TracedFrame::ingress(Program& program, Packet& packet, std::uint64_t now_ns) {
  const bool is_second_pass = packet.resubmitted;
  program.trace()->begin();
  program.ingress(packet);
  OrderedJson step = {{"step", "ingress"},
                      {"port", packet.ingress_port},
                      {"after_ns", packet_.since_arrival_ns(now_ns)},
                      {"events", program.trace()->take()},
                      {"decision", ingress_decision(packet)}};
  if (is_second_pass) step["resubmitted"] = true;
  add(std::move(step));
}

void TracedFrame::egress(Program& program, Packet& packet, std::uint64_t now_ns) {
  program.trace()->begin();
  program.egress(packet);
  add({{"step", "egress"},
       {"port", packet.egress_port},
       {"rid", packet.egress_rid},
       {"enq_qdepth", packet.enq_qdepth},
       {"deq_timedelta_ns", packet.deq_timedelta_ns},
       {"after_ns", packet_.since_arrival_ns(now_ns)},
       {"events", program.trace()->take()},
       {"decision", egress_decision(packet)}});
}

TracedFrame* TracedFrame::copy(const char* why) {
  TracedFrame* const made = packet_.add_frame();
  made->add({{"step", why}, {"of", number_}});
  return made;
}

void TracedFrame::queued(const Replication::Copy& copy) {
  add({{"step", "queued"},
       {"port", copy.port},
       {"qid", copy.qid},
       {"rid", copy.rid},
       {"bypass_egress", copy.bypass_egress}});
}

void TracedFrame::sent(std::uint16_t port, std::uint32_t bytes) {
  add({{"step", "sent"}, {"port", port}, {"bytes", bytes}});
}

void TracedFrame::recirculated(std::uint16_t port) {
  add({{"step", "recirculated"}, {"port", port}});
}

void TracedFrame::dropped(std::uint16_t port, const char* reason) {
  add({{"step", "dropped"}, {"port", port}, {"reason", reason}});
}

void TracedFrame::end() {
  packet_.end_frame();
}

PacketTracer::PacketTracer(Program& program, TraceFilter filter, Sink sink)
    : program_(program), filter_(std::move(filter)), sink_(std::move(sink)) {}

PacketTracer::~PacketTracer() = default;

TracedFrame* PacketTracer::arrive(const Packet& packet, std::uint64_t now_ns,
                                  std::int64_t realtime_ns) {
  if (!filter_.choose(packet)) return nullptr;
  OrderedJson trace = {{"packet", ++packets_},        {"program", program_.name()},
                       {"port", packet.ingress_port}, {"time_ns", now_ns},
                       {"bytes", packet.length},      {"data", hex(packet.data, packet.length)}};
  if (realtime_ns != 0) trace["realtime_ns"] = realtime_ns;
  return open_.emplace_back(*this, std::move(trace), now_ns).add_frame();
}

void PacketTracer::complete(TracedPacket& packet) {
  sink_(packet.trace());
  waiting_.push_back(std::move(packet.trace()));
  if (waiting_.size() > kMaxWaiting) {
    waiting_.pop_front();
    ++lost_;
  }
  open_.remove_if([&](const TracedPacket& open) { return &open == &packet; });
}

nlohmann::json PacketTracer::execute(std::string_view command, const nlohmann::json& args) {
  if (command == "trace_read") return read(args);
  if (command != "trace_start" && command != "trace_stop")
    throw CommandError("unknown_command", "there is no command '" + std::string(command) + "'");
  std::string filter = "count=0";
  if (command == "trace_start") {
    const nlohmann::json wanted = args.value("filter", nlohmann::json(""));
    if (!wanted.is_string()) {
      throw bad_argument("trace_start: \"filter\" is " + wanted.dump() +
                         "; expected a text such as \"udp=1152,count=20\"");
    }
    filter = wanted.get<std::string>();
  }
  filter_ = TraceFilter::parse(filter);
  return nlohmann::json::object();
}

// The oldest traces; each is given out once.
nlohmann::json PacketTracer::read(const nlohmann::json& args) {
  const bool as_text = args.value("format", "json") == "text";
  const std::uint64_t most =
      args.contains("max")
          ? static_cast<std::uint64_t>(parse_value(args.at("max"), 32, "trace_read, max"))
          : kMaxWaiting;
  nlohmann::json traces = nlohmann::json::array();
  for (; traces.size() < most && !waiting_.empty(); waiting_.pop_front()) {
    if (as_text) {
      traces.push_back(trace_text(waiting_.front()));
    } else {
      traces.push_back(nlohmann::json(waiting_.front()));
    }
  }
  return {{"traces", traces}, {"waiting", waiting_.size()}, {"lost", lost_}};
}

}  // namespace turntable::dataplane
