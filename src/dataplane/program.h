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

#include <cstdint>
#include <memory>
#include <string_view>

namespace turntable::dataplane {

// Bytes kept free before and after every received frame, so that a deparser may grow it in place.
inline constexpr std::uint32_t kHeadroom = 512;
inline constexpr std::uint32_t kMaxFrame = 10240;  // Tofino's default port MTU

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

  // Set by ingress for the traffic manager.
  bool has_ucast_egress_port =
      false;  // false: no unicast copy (nothing assigned ucast_egress_port)
  std::uint16_t ucast_egress_port = 0;
  std::uint8_t drop_ctl =
      0;  // bit 0: no unicast copy; bit 1: no multicast copies; bit 2: no mirror
  bool bypass_egress = false;
  std::uint8_t qid = 0;
  std::uint16_t mcast_grp_a = 0;
  std::uint16_t mcast_grp_b = 0;
  std::uint16_t rid = 0;
  std::uint16_t parser_error =
      0;  // of the last parser run (ParserError of packet_reader.h); 0: none

  // Set by the traffic manager before egress; egress may set drop_ctl again.
  std::uint16_t egress_port = 0;
  std::uint16_t egress_rid = 0;
  std::uint32_t enq_qdepth = 0;
  std::uint64_t enq_tstamp_ns = 0;
  std::uint32_t deq_qdepth = 0;
  std::uint32_t deq_timedelta_ns = 0;
};

class ControlPlane;  // dataplane/control.h: tables, counters and registers by BfRt name

class Program {
 public:
  virtual ~Program() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view bfrt_json() const = 0;  // the schema, as the SDE's bfrt.json
  virtual ControlPlane& control() = 0;

  virtual void ingress(Packet& packet) = 0;
  virtual void egress(Packet& packet) = 0;
};

// Every shared library of a program exports these two; a different version is refused by the
// loader.
inline constexpr std::uint32_t kProgramAbi = 1;
extern "C" {
using ProgramAbiFunction = std::uint32_t();
using ProgramCreateFunction = Program*();
}
inline constexpr const char* kProgramAbiSymbol = "turntable_program_abi";
inline constexpr const char* kProgramCreateSymbol = "turntable_program_create";

// Loads build/lib/p4/NAME.so. Throws std::runtime_error that names the file and the reason. The
// library stays loaded for the life of the process.
std::unique_ptr<Program> load_program(const char* path);

}  // namespace turntable::dataplane
