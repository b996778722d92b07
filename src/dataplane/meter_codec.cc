#include "dataplane/meter_codec.h"

#include <array>
#include <cmath>
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

CommandError too_much(const Limit& limit, const std::string& what) {
  return bad_argument(what + ": more than " + std::to_string(kMaxLimit / limit.scale));
}

// A fraction in BfRt's unit that is a whole number of bytes: a byte is 0.008 kbit.
std::uint64_t from_fraction(const Limit& limit, double value, const std::string& what) {
  constexpr double kRounding = 1e-5;  // of a byte: more than the error of a double below kMaxLimit
  const double bytes = value * static_cast<double>(limit.scale);
  const double whole = std::round(bytes);
  if (whole > static_cast<double>(kMaxLimit)) throw too_much(limit, what);
  if (whole < 0 || std::abs(bytes - whole) > kRounding) {
    throw bad_argument(what + ": " + nlohmann::json(value).dump() + " is not a whole number of " +
                       (limit.scale == 1 ? "packets" : "bytes (0.008 kbit)"));
  }
  return static_cast<std::uint64_t>(whole);
}

// In the meter's unit. Nothing: there is no limit.
std::optional<std::uint64_t> amount_of(const Limit& limit, const nlohmann::json& value,
                                       const std::string& what) {
  if (value.is_number_float()) return from_fraction(limit, value.get<double>(), what);
  const uint128 number = parse_value(value, 64, what);
  if (number == kUnlimited) return std::nullopt;
  if (number * limit.scale > kMaxLimit) throw too_much(limit, what);
  return static_cast<std::uint64_t>(number) * limit.scale;
}

nlohmann::json in_its_unit(const Limit& limit, std::uint64_t amount) {
  if (amount % limit.scale == 0) return amount / limit.scale;
  return static_cast<double>(amount) / static_cast<double>(limit.scale);
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
    const auto amount = amount_of(limit, data.at(limit.name), what + ", " + limit.name);
    if (!amount) ++unlimited;
    limits.*limit.place = amount.value_or(0);
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
    data[limit.name] =
        limits ? in_its_unit(limit, (*limits).*limit.place) : nlohmann::json(kUnlimited);
  }
  return data;
}

MeterCodec::Cells MeterCodec::cells(const nlohmann::json& args) const {
  if (!args.contains("index")) return {0, meter_.size()};
  const auto index =
      static_cast<std::uint32_t>(parse_value(args.at("index"), 32, "meter " + name_ + ", index"));
  if (index >= meter_.size()) {
    throw bad_argument("meter " + name_ + ": index " + std::to_string(index) +
                       " is not below its size " + std::to_string(meter_.size()));
  }
  return {index, index + 1};
}

std::int32_t parse_byte_count_adjust(const nlohmann::json& value, const std::string& what) {
  if (value.is_number_integer() && value >= kLeastByteCountAdjust && value <= kMostByteCountAdjust)
    return value;
  throw bad_argument(what + ": \"byte_count_adjust\" is " + value.dump() + "; expected bytes, " +
                     std::to_string(kLeastByteCountAdjust) + " to " +
                     std::to_string(kMostByteCountAdjust));
}

nlohmann::json MeterCodec::write(const nlohmann::json& args) {
  const Cells written = cells(args);
  std::optional<MeterLimits> limits;
  if (!args.contains("data") || !args.at("data").is_null()) {
    limits =
        read_limits(meter_.unit(), args.value("data", nlohmann::json::object()), "meter " + name_);
  }
  for (std::uint32_t index = written.first; index < written.end; ++index) {
    if (limits) {
      meter_.set_limits(index, *limits);
    } else {
      meter_.remove_limits(index);
    }
  }
  return nlohmann::json::object();
}

std::function<void()> MeterCodec::undo_of(const nlohmann::json& args) const {
  const Cells written = cells(args);
  std::vector<MeterCell> before;
  for (std::uint32_t index = written.first; index < written.end; ++index)
    before.push_back(meter_.cell(index));
  return [&meter = meter_, first = written.first, before = std::move(before)] {
    for (std::size_t i = 0; i < before.size(); ++i)
      meter.put_back(first + static_cast<std::uint32_t>(i), before[i]);
  };
}

nlohmann::json MeterCodec::limits_of_cell(std::uint32_t index) const {
  const MeterCell& cell = meter_.cell(index);
  return cell.is_limited != 0 ? written_limits(meter_.unit(), cell.limits) : nlohmann::json();
}

nlohmann::json MeterCodec::read(const nlohmann::json& args) const {
  const Cells wanted = cells(args);
  if (args.contains("index"))
    return {{"table", name_}, {"index", wanted.first}, {"data", limits_of_cell(wanted.first)}};
  nlohmann::json meters = nlohmann::json::array();
  for (std::uint32_t index = wanted.first; index < wanted.end; ++index)
    meters.push_back({{"index", index}, {"data", limits_of_cell(index)}});
  return {{"table", name_}, {"meters", meters}};
}

}  // namespace turntable::dataplane
