// The contract between a compiled P4 program and the switch that runs it.
//
// A P4 program is translated by p4soft to one C++ class derived from Program and compiled to a
// shared library. The switch (softswitch), and packet tests in memory, give it frames: `ingress`
// runs the ingress parser, control and deparser; the caller plays the traffic manager; `egress`
// runs the other half for every copy.
//
// Threads: one pipeline thread calls ingress and egress; control-plane operations run on that same
// thread, between packets. So every packet sees tables and registers atomically, as on the ASIC.
// Nothing here allocates per packet.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace turntable::dataplane {

// Bytes kept free before and after every received frame, so that a deparser may grow it in place.
inline constexpr std::uint32_t kHeadroom = 512;
inline constexpr std::uint32_t kMaxFrame = 10240;  // Tofino's default port MTU

// A frame is held without its check sequence, but as on the ASIC its length has it: counters and
// meters of bytes, and pkt_length.
inline constexpr std::uint32_t kFrameCheckBytes = 4;

inline constexpr std::uint32_t kMaxMirrorHeader = 32;
inline constexpr std::uint32_t kResubmitBytes = 8;

// Bits of drop_ctl, as tna.p4 describes them for Tofino 1.
inline constexpr std::uint8_t kDropFrame = 1;  // unicast, multicast and resubmit
inline constexpr std::uint8_t kDropCopyToCpu = 2;
inline constexpr std::uint8_t kDropMirror = 4;  // egress; reserved in ingress

// A frame with the intrinsic metadata of TNA (widths as in tna.p4). The memory belongs to the
// caller.
struct Packet {
  std::uint8_t* data =
      nullptr;  // first byte of the frame; [data - headroom, data + length + tailroom) is writable
  std::uint32_t length = 0;
  std::uint32_t headroom = 0;
  std::uint32_t tailroom = 0;

  // Set by the switch before ingress.
  std::uint16_t ingress_port = 0;
  std::uint64_t ingress_mac_tstamp_ns = 0;  // 48 bits
  bool resubmitted = false;                 // the second pass of a frame that asked for one
  std::array<std::uint8_t, kResubmitBytes> resubmit_data{};

  // Set by ingress for the traffic manager.
  bool has_ucast_egress_port =
      false;  // false: no unicast copy (nothing assigned ucast_egress_port)
  std::uint16_t ucast_egress_port = 0;
  std::uint8_t drop_ctl = 0;  // kDropFrame, kDropCopyToCpu, kDropMirror
  bool bypass_egress = false;
  std::uint8_t qid = 0;
  std::uint16_t mcast_grp_a = 0;
  std::uint16_t mcast_grp_b = 0;
  std::uint16_t rid = 0;
  std::uint16_t level1_exclusion_id = 0;
  std::uint16_t level2_exclusion_id = 0;
  bool copy_to_cpu = false;
  bool resubmit = false;  // go through ingress again, unchanged, with resubmit_data; nothing else
  std::uint16_t parser_error =
      0;  // of the last parser run (ParserError of packet_reader.h); 0: none

  // Set by ingress and by egress: Program::mirror_copy() is wanted.
  bool mirrored = false;

  // Set by the traffic manager before egress; egress may set drop_ctl again.
  std::uint16_t egress_port = 0;
  std::uint16_t egress_rid = 0;
  bool egress_rid_first = false;  // of a multicast group's copies, the first with this egress_rid
  std::uint32_t enq_qdepth = 0;
  std::uint64_t enq_tstamp_ns = 0;
  std::uint32_t deq_qdepth = 0;
  std::uint32_t deq_timedelta_ns = 0;
};

// The copy that Mirror.emit asks for: `header`, then `front`, then the last `tail_length` bytes of
// the frame as ingress or egress left it. Together front and tail are, from ingress, the frame as
// it arrived and, from egress, the frame as it leaves.
struct MirrorCopy {
  std::uint16_t session = 0;
  std::uint32_t header_length = 0;
  std::uint32_t front_length = 0;
  std::uint32_t tail_length = 0;
  std::array<std::uint8_t, kMaxMirrorHeader> header;
  std::array<std::uint8_t, kMaxFrame> front;
};

class ControlPlane;  // dataplane/control.h: tables, counters and registers by BfRt name
class ProgramTrace;  // dataplane/program_trace.h: what happens to a packet inside

class Program {
 public:
  virtual ~Program() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view bfrt_json() const = 0;  // the schema, as the SDE's bfrt.json
  virtual ControlPlane& control() = 0;

  virtual void ingress(Packet& packet) = 0;
  virtual void egress(Packet& packet) = 0;

  // Valid after ingress or egress set `mirrored`, until the next call of either.
  virtual const MirrorCopy& mirror_copy() const { return mirror_copy_; }

  // nullptr: compiled without tracing, as programs are that run experiments.
  virtual ProgramTrace* trace() noexcept { return nullptr; }

 protected:
  MirrorCopy mirror_copy_;
};

// Every shared library of a program exports these two; a different version is refused by the
// loader.
inline constexpr std::uint32_t kProgramAbi = 9;
extern "C" {
using ProgramAbiFunction = std::uint32_t();
using ProgramCreateFunction = Program*();
}
inline constexpr const char* kProgramAbiSymbol = "turntable_program_abi";
inline constexpr const char* kProgramCreateSymbol = "turntable_program_create";

// Loads build/lib/p4/NAME.so. Throws std::runtime_error that names the file and the reason. The
// library stays loaded for the life of the process. `pipes`: so many have a state of their own
// (program_pipes.h); 1: the ports of all pipes share one.
std::unique_ptr<Program> load_program(const char* path, std::uint32_t pipes = 1);

// For PATH/NAME.so, the library of the same program that is compiled for tracing:
// PATH/NAME.trace.so. Throws as load_program does.
std::unique_ptr<Program> load_traced_program(const std::string& path, std::uint32_t pipes = 1);

}  // namespace turntable::dataplane
