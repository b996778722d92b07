#include "dataplane/filter_codec.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

constexpr const char* kLpfPrefix = "$LPF_SPEC_";
constexpr const char* kWredPrefix = "$WRED_SPEC_";
constexpr const char* kType = "$LPF_SPEC_TYPE";
constexpr const char* kGain = "$LPF_SPEC_GAIN_TIME_CONSTANT_NS";
constexpr const char* kDecay = "$LPF_SPEC_DECAY_TIME_CONSTANT_NS";
constexpr const char* kScale = "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR";
constexpr const char* kTime = "$WRED_SPEC_TIME_CONSTANT_NS";
constexpr const char* kMinThreshold = "$WRED_SPEC_MIN_THRESH_CELLS";
constexpr const char* kMaxThreshold = "$WRED_SPEC_MAX_THRESH_CELLS";
constexpr const char* kProbability = "$WRED_SPEC_MAX_PROBABILITY";
constexpr int kScaleBits = 5;

double at_least_zero(const Json& value, double most, const std::string& what) {
  if (value.is_number() && value >= 0 && value <= most) return value;
  throw bad_argument(what + " is " + value.dump() + "; expected a number from 0 to " +
                     Json(most).dump());
}

constexpr double kMostNs = 1e15;  // some eleven days

std::uint64_t is_rate(const Json& value, const std::string& what) {
  if (value == "RATE" || value == "SAMPLE") return value == "RATE" ? 1 : 0;
  throw bad_argument(what + " is " + value.dump() + "; expected \"RATE\" or \"SAMPLE\"");
}

std::uint64_t whole(const Json& value, int width, const std::string& what) {
  return static_cast<std::uint64_t>(parse_value(value, width, what));
}

bool put(LpfCell& cell, const std::string& name, const Json& value, const std::string& what) {
  if (name == kType) {
    cell.is_rate = is_rate(value, what);
  } else if (name == kGain) {
    cell.gain_time_ns = at_least_zero(value, kMostNs, what);
  } else if (name == kDecay) {
    cell.decay_time_ns = at_least_zero(value, kMostNs, what);
  } else if (name == kScale) {
    cell.scale_down = whole(value, kScaleBits, what);
  } else {
    return false;
  }
  return true;
}

bool put(WredCell& cell, const std::string& name, const Json& value, const std::string& what) {
  if (name == kTime) {
    cell.time_constant_ns = at_least_zero(value, kMostNs, what);
  } else if (name == kMinThreshold) {
    cell.min_threshold = whole(value, 32, what);
  } else if (name == kMaxThreshold) {
    cell.max_threshold = whole(value, 32, what);
  } else if (name == kProbability) {
    cell.max_probability = at_least_zero(value, 1, what);
  } else {
    return false;
  }
  return true;
}

template <class Cell>
void put_in_words(const std::string& name, const Json& value, const std::string& what,
                  std::uint64_t* words) {
  auto cell = load_filter<Cell>(words);
  if (!put(cell, name, value, what)) throw bad_argument(what + " is no field of this filter");
  cell.average = {};
  store_filter(cell, words);
}

}  // namespace

bool is_filter_field(FilterKind kind, const std::string& name) {
  return name.starts_with(kind == FilterKind::kLpf ? kLpfPrefix : kWredPrefix);
}

void put_filter_field(FilterKind kind, const std::string& name, const Json& value,
                      const std::string& what, std::uint64_t* words) {
  const std::string field = what + ", " + name;
  if (kind == FilterKind::kLpf) {
    put_in_words<LpfCell>(name, value, field, words);
  } else {
    put_in_words<WredCell>(name, value, field, words);
  }
}

Json filter_fields(FilterKind kind, const std::uint64_t* words) {
  if (kind == FilterKind::kLpf) {
    const auto cell = load_filter<LpfCell>(words);
    return {{kType, cell.is_rate != 0 ? "RATE" : "SAMPLE"},
            {kGain, cell.gain_time_ns},
            {kDecay, cell.decay_time_ns},
            {kScale, cell.scale_down}};
  }
  const auto cell = load_filter<WredCell>(words);
  return {{kTime, cell.time_constant_ns},
          {kMinThreshold, cell.min_threshold},
          {kMaxThreshold, cell.max_threshold},
          {kProbability, cell.max_probability}};
}

FilterWords fresh_filter(FilterKind kind) {
  return kind == FilterKind::kLpf ? std::bit_cast<FilterWords>(LpfCell{})
                                  : std::bit_cast<FilterWords>(WredCell{});
}

FilterCodec::Cells FilterCodec::cells(const Json& args) const {
  if (!args.contains("index")) return {0, filter_.size()};
  const auto index =
      static_cast<std::uint32_t>(whole(args.at("index"), 32, "filter " + name_ + ", index"));
  if (index < filter_.size()) return {index, index + 1};
  throw bad_argument("filter " + name_ + ": index " + std::to_string(index) +
                     " is not below its size " + std::to_string(filter_.size()));
}

Json FilterCodec::write(const Json& args) {
  const Cells written = cells(args);
  const Json data = args.value("data", Json());
  if (!data.is_null() && !data.is_object()) {
    throw bad_argument("filter " + name_ + ": \"data\" is " + data.dump() +
                       "; expected an object from names to values, or null");
  }
  for (std::uint32_t index = written.first; index < written.end; ++index) {
    FilterWords words = fresh_filter(filter_.kind());
    if (!data.is_null()) std::copy_n(filter_.words(index), kFilterWords, words.begin());
    for (const auto& [name, value] : data.items())
      put_filter_field(filter_.kind(), name, value, "filter " + name_, words.data());
    std::copy(words.begin(), words.end(), filter_.words(index));
  }
  return Json::object();
}

Json FilterCodec::read(const Json& args) const {
  const Cells wanted = cells(args);
  Json filters = Json::array();
  for (std::uint32_t index = wanted.first; index < wanted.end; ++index) {
    filters.push_back(
        {{"index", index}, {"data", filter_fields(filter_.kind(), filter_.words(index))}});
  }
  return {{"table", name_}, {"filters", filters}};
}

}  // namespace turntable::dataplane
