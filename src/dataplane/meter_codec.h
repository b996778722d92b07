// A meter's limits as JSON with BfRt's names: among an entry's data, and for the commands
// meter_write and meter_read (docs/p4soft.md).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "dataplane/meter.h"

namespace turntable::dataplane {

inline constexpr const char* kMeterPrefix = "$METER_SPEC_";
// Each of the four values of a meter without limits.
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// {"$METER_SPEC_CIR_KBPS", …}, all four of the unit and nothing else; kilobits may be a fraction
// that is whole bytes. Nothing: there are no limits.
// Throws CommandError bad_argument; `what` says where.
std::optional<MeterLimits> read_limits(MeterUnit unit, const nlohmann::json& data,
                                       const std::string& what);
nlohmann::json written_limits(MeterUnit unit, const std::optional<MeterLimits>& limits);

// Throws CommandError bad_argument; `what` says where.
std::int32_t parse_byte_count_adjust(const nlohmann::json& value, const std::string& what);

class MeterCodec {
 public:
  MeterCodec(std::string name, Meter& meter) : name_(std::move(name)), meter_(meter) {}

  // {["index"], "data": {"$METER_SPEC_CIR_KBPS", …}}, all four; "data": null removes the limits.
  // Without an index, those of all cells.
  nlohmann::json write(const nlohmann::json& args);
  // {"index"} -> {"table", "index", "data": {…} or null}
  // {} -> {"table", "meters": [{"index", "data"}]}
  nlohmann::json read(const nlohmann::json& args) const;
  // Makes the cells that write() would change what they are now, with what is in their buckets.
  // Throws as write() does where there are no such cells.
  std::function<void()> undo_of(const nlohmann::json& args) const;

 private:
  struct Cells {
    std::uint32_t first;
    std::uint32_t end;  // behind the last
  };

  Cells cells(const nlohmann::json& args) const;
  nlohmann::json limits_of_cell(std::uint32_t index) const;

  std::string name_;
  Meter& meter_;
};

}  // namespace turntable::dataplane
