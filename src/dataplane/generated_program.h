// What every translated program includes: the runtime, and the base class it derives from. The
// control plane is kept out of sight, so that generated code compiles quickly.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "dataplane/action_selector.h"
#include "dataplane/alias.h"
#include "dataplane/bits.h"
#include "dataplane/checksum.h"
#include "dataplane/counter.h"
#include "dataplane/digest_queue.h"
#include "dataplane/dynamic_hash.h"
#include "dataplane/filter.h"
#include "dataplane/hash_input.h"
#include "dataplane/header_stack.h"
#include "dataplane/intrinsic.h"
#include "dataplane/match_index.h"
#include "dataplane/meter.h"
#include "dataplane/packed_key.h"
#include "dataplane/packet_reader.h"
#include "dataplane/port_numbers.h"
#include "dataplane/program.h"
#include "dataplane/random.h"
#include "dataplane/register.h"
#include "dataplane/residual_checksum.h"
#include "dataplane/table.h"
#include "dataplane/ternary_index.h"
#include "dataplane/varbit.h"
#include "dataplane/wire.h"

namespace turntable::dataplane {

class ProgramControl;

class GeneratedProgram : public Program {
 public:
  ~GeneratedProgram() override;
  std::string_view name() const final { return name_; }
  std::string_view bfrt_json() const final { return schema_; }
  ControlPlane& control() final;

 protected:
  // The texts must outlive the program.
  GeneratedProgram(std::string_view name, std::string_view schema, std::string_view p4info);

  // Makes an object of the program known under its BfRt name.
  void add_table(const std::string& name, Table& table);
  void add_counter(const std::string& name, Counter& counter);
  void add_register(const std::string& name, RegisterArray& cells);
  void add_meter(const std::string& name, Meter& meter);
  void add_filter(const std::string& name, FilterArray& filter);
  void add_hash(const std::string& name, DynamicHash& hash);
  void add_random(Random& random);
  void add_selector(const std::string& name, ActionSelector& selector, const std::string& profile);
  // selector: empty: the table has an action profile alone.
  void add_implementation(const std::string& table, const std::string& profile,
                          const std::string& selector);

  // What deparsers ask for. An ingress or egress that has a Mirror, Resubmit or Digest calls these.
  void request_mirror(std::uint16_t session, std::span<const std::uint8_t> header) noexcept;
  void request_resubmit(Packet& packet, std::span<const std::uint8_t> data) noexcept;
  // The mirror copy of ingress: called before the frame is rebuilt. `reader` has parsed it.
  void mirror_original(Packet& packet, const PacketReader& reader) noexcept;
  // The mirror copy of egress: called after.
  void mirror_rebuilt(Packet& packet) noexcept;

  bool mirror_requested_ = false;
  // Whether the control has assigned these fields of its deparser's intrinsic metadata.
  bool digest_type_assigned_ = false;
  bool mirror_type_assigned_ = false;
  bool resubmit_type_assigned_ = false;
  DigestQueue digests_;
  std::uint64_t now_ns_ = 0;  // of the packet being processed, for meters

 private:
  std::string_view name_;
  std::string_view schema_;
  std::unique_ptr<ProgramControl> control_;
};

}  // namespace turntable::dataplane
