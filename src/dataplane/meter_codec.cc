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
  std::uint64_t MeterLimits::*place;
  std::uint64_t scale;
};

constexpr std::uint64_t kBytesPerKilobit = 125;
constexpr std::uint64_t kMaxLimit = 10'000'000'000;  // bytes or packets (per second)

constexpr std::array<Limit, 4> kByteLimits = {{
    {"$METER_SPEC_CIR_KBPS", &MeterLimits::committed_rate, kBytesPerKilobit},
    {"$METER_SPEC_PIR_KBPS", &MeterLimits::peak_rate, kBytesPerKilobit},
    {"$METER_SPEC_CBS_KBITS", &MeterLimits::committed_burst, kBytesPerKilobit},
    {"$METER_SPEC_PBS_KBITS", &MeterLimits::peak_burst, kBytesPerKilobit},
}};
constexpr std::array<Limit, 4> kPacketLimits = {{
    {"$METER_SPEC_CIR_PPS", &MeterLimits::committed_rate, 1},
    {"$METER_SPEC_PIR_PPS", &MeterLimits::peak_rate, 1},
    {"$METER_SPEC_CBS_PKTS", &MeterLimits::committed_burst, 1},
    {"$METER_SPEC_PBS_PKTS", &MeterLimits::peak_burst, 1},
}};

const std::array<Limit, 4>& limits_of(MeterUnit unit) {
  return unit == MeterUnit::kBytes ? kByteLimits : kPacketLimits;
}

std::string names_of(const std::array<Limit, 4>& limits) {
  std::string names;
  for (const Limit& limit : limits) names += (names.empty() ? "" : ", ") + std::string(limit.name);
  return names;
}

}  // namespace

std::optional<MeterLimits> read_limits(MeterUnit unit, const nlohmann::json& data,
                                       const std::string& what) {
  const auto& known = limits_of(unit);
  MeterLimits limits;
  std::size_t unlimited = 0;
  for (const Limit& limit : known) {
    if (!data.is_object() || !data.contains(limit.name)) {
      throw bad_argument(what + ": data lacks \"" + limit.name + "\"; expected all of " +
                         names_of(known));
    }
    const std::string which = what + ", " + limit.name;
    const uint128 value = parse_value(data.at(limit.name), 64, which);
    if (value == kUnlimited) {
      ++unlimited;
    } else if (value * limit.scale > kMaxLimit) {
      throw bad_argument(which + ": more than " + std::to_string(kMaxLimit / limit.scale));
    }
    limits.*limit.place = static_cast<std::uint64_t>(value) * limit.scale;
  }
  if (data.size() > known.size())
    throw bad_argument(what + ": expected nothing of a meter but " + names_of(known));
  if (unlimited == known.size()) return std::nullopt;
  if (unlimited == 0) return limits;
  throw bad_argument(what + ": a meter has four limits, or none (" + std::to_string(kUnlimited) +
                     " for each)");
}

nlohmann::json written_limits(MeterUnit unit, const std::optional<MeterLimits>& limits) {
  nlohmann::json data = nlohmann::json::object();
  for (const Limit& limit : limits_of(unit)) {
    data[limit.name] = limits ? (*limits).*limit.place / limit.scale : kUnlimited;
  }
  return data;
}

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
  const auto limits =
      read_limits(meter_.unit(), args.value("data", nlohmann::json::object()), "meter " + name_);
  if (limits) {
    meter_.set_limits(place, *limits);
  } else {
    meter_.remove_limits(place);
  }
  return nlohmann::json::object();
}

nlohmann::json MeterCodec::read(const nlohmann::json& args) const {
  const std::uint32_t place = index(args);
  const MeterCell& cell = meter_.cell(place);
  nlohmann::json data;
  if (cell.is_limited != 0) data = written_limits(meter_.unit(), cell.limits);
  return {{"table", name_}, {"index", place}, {"data", data}};
}

}  // namespace turntable::dataplane
