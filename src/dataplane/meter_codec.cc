#include "dataplane/meter_codec.h"

#include <array>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

// One of the four limits under the name it has in BfRt, whose unit is `scale` of the meter's.
struct Limit {
  const char* name;
  std::uint64_t Meter::Limits::*place;
  std::uint64_t scale;
};

constexpr std::uint64_t kBytesPerKilobit = 125;
constexpr std::uint64_t kMaxLimit = 10'000'000'000;  // bytes or packets (per second)

constexpr std::array<Limit, 4> kByteLimits = {{
    {"$METER_SPEC_CIR_KBPS", &Meter::Limits::committed_rate, kBytesPerKilobit},
    {"$METER_SPEC_PIR_KBPS", &Meter::Limits::peak_rate, kBytesPerKilobit},
    {"$METER_SPEC_CBS_KBITS", &Meter::Limits::committed_burst, kBytesPerKilobit},
    {"$METER_SPEC_PBS_KBITS", &Meter::Limits::peak_burst, kBytesPerKilobit},
}};
constexpr std::array<Limit, 4> kPacketLimits = {{
    {"$METER_SPEC_CIR_PPS", &Meter::Limits::committed_rate, 1},
    {"$METER_SPEC_PIR_PPS", &Meter::Limits::peak_rate, 1},
    {"$METER_SPEC_CBS_PKTS", &Meter::Limits::committed_burst, 1},
    {"$METER_SPEC_PBS_PKTS", &Meter::Limits::peak_burst, 1},
}};

const std::array<Limit, 4>& limits_of(const Meter& meter) {
  return meter.unit() == Meter::Unit::kBytes ? kByteLimits : kPacketLimits;
}

}  // namespace

std::uint32_t MeterCodec::index(const nlohmann::json& args) const {
  if (!args.contains("index")) throw bad_argument("meter " + name_ + ": \"index\" is missing");
  const auto index =
      static_cast<std::uint32_t>(parse_value(args.at("index"), 32, "meter " + name_ + ", index"));
  if (index >= meter_.size()) {
    throw bad_argument("meter " + name_ + ": index " + std::to_string(index) +
                       " is not below its size " + std::to_string(meter_.size()));
  }
  return index;
}

nlohmann::json MeterCodec::write(const nlohmann::json& args) {
  const std::uint32_t place = index(args);
  if (args.contains("data") && args.at("data").is_null()) {
    meter_.remove_limits(place);
    return nlohmann::json::object();
  }
  Meter::Limits limits;
  for (const Limit& limit : limits_of(meter_)) {
    if (!args.contains("data") || !args.at("data").contains(limit.name)) {
      throw bad_argument("meter " + name_ + ": data lacks \"" + limit.name + "\"");
    }
    const uint128 value =
        parse_value(args.at("data").at(limit.name), 64, "meter " + name_ + ", " + limit.name) *
        limit.scale;
    if (value > kMaxLimit) {
      throw bad_argument("meter " + name_ + ", " + limit.name + ": more than " +
                         std::to_string(kMaxLimit / limit.scale));
    }
    limits.*limit.place = static_cast<std::uint64_t>(value);
  }
  meter_.set_limits(place, limits);
  return nlohmann::json::object();
}

nlohmann::json MeterCodec::read(const nlohmann::json& args) const {
  const std::uint32_t place = index(args);
  nlohmann::json data;
  if (meter_.is_limited(place)) {
    for (const Limit& limit : limits_of(meter_))
      data[limit.name] = meter_.limits(place).*limit.place / limit.scale;
  }
  return {{"table", name_}, {"index", place}, {"data", data}};
}

}  // namespace turntable::dataplane
