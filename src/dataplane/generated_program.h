// What every translated program includes: the runtime, and the base class it derives from. The
// control plane is kept out of sight, so that generated code compiles quickly.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "dataplane/bits.h"
#include "dataplane/checksum.h"
#include "dataplane/counter.h"
#include "dataplane/crc.h"
#include "dataplane/header_stack.h"
#include "dataplane/intrinsic.h"
#include "dataplane/match_index.h"
#include "dataplane/packed_key.h"
#include "dataplane/packet_reader.h"
#include "dataplane/program.h"
#include "dataplane/register.h"
#include "dataplane/table.h"
#include "dataplane/ternary_index.h"
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
  // Both texts must outlive the program.
  GeneratedProgram(std::string_view name, std::string_view schema);

  // Makes an object of the program known under its BfRt name.
  void add_table(const std::string& name, Table& table);
  void add_counter(const std::string& name, Counter& counter);
  void add_register(const std::string& name, RegisterArray& cells);

 private:
  std::string_view name_;
  std::string_view schema_;
  std::unique_ptr<ProgramControl> control_;
};

}  // namespace turntable::dataplane
