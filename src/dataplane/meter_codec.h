// A meter's limits as JSON with BfRt's names, for the commands meter_write and meter_read
// (docs/p4soft.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/meter.h"

namespace turntable::dataplane {

class MeterCodec {
 public:
  MeterCodec(std::string name, Meter& meter) : name_(std::move(name)), meter_(meter) {}

  // {"index", "data": {"$METER_SPEC_CIR_KBPS", …}}, all four; "data": null removes the limits.
  nlohmann::json write(const nlohmann::json& args);
  // {"index"} -> {"table", "index", "data": {…} or null}
  nlohmann::json read(const nlohmann::json& args) const;

 private:
  std::uint32_t index(const nlohmann::json& args) const;

  std::string name_;
  Meter& meter_;
};

}  // namespace turntable::dataplane
