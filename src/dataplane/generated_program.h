// What every translated program includes: the runtime, and the base class it derives from.
#pragma once

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
#include "dataplane/program_control.h"
#include "dataplane/table.h"
#include "dataplane/ternary_index.h"
#include "dataplane/wire.h"

namespace turntable::dataplane {

class GeneratedProgram : public Program {
 public:
  std::string_view name() const final { return name_; }
  std::string_view bfrt_json() const final { return schema_; }
  ControlPlane& control() final { return control_; }

 protected:
  GeneratedProgram(std::string_view name, std::string_view schema)
      : name_(name), schema_(schema), control_(std::string(name), schema) {}

  ProgramControl& registry() { return control_; }

 private:
  std::string_view name_;
  std::string_view schema_;
  ProgramControl control_;
};

}  // namespace turntable::dataplane
