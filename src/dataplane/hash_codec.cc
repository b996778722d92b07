#include "dataplane/hash_codec.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/command_error.h"
#include "dataplane/packed_key.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

constexpr const char* kPreDefined = "pre_defined";
constexpr const char* kUserDefined = "user_defined";
constexpr int kMostWidth = 64;

[[noreturn]] void refuse(std::initializer_list<std::string_view> parts) {
  std::string message;
  for (const std::string_view part : parts) message += part;
  throw bad_argument(message);
}

std::uint64_t number(const Json& data, const char* name, std::uint64_t otherwise, int width,
                     const std::string& what) {
  const auto found = data.find(name);
  if (found == data.end()) return otherwise;
  return static_cast<std::uint64_t>(parse_value(*found, width, what + ", " + name));
}

bool flag(const Json& data, const char* name, const std::string& what) {
  return number(data, name, 0, 1, what) != 0;
}

void check_names(const Json& data, std::initializer_list<const char*> known,
                 const std::string& what) {
  for (const auto& [name, value] : data.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const char* each : known) names += (names.empty() ? "" : ", ") + std::string(each);
    refuse({what, ": no field \"", name, "\"; expected ", names});
  }
}

std::string range(const HashSlice& slice) {
  return "bits " + std::to_string(slice.start_bit) + " to " +
         std::to_string(slice.start_bit + slice.length - 1);
}

}  // namespace

void HashCodec::write(const Json& args) {
  const Json data = args.value("data", Json());
  if (type_ == kHashCompute) throw bad_argument("table " + table_ + " can only be read");
  if (!data.is_object()) {
    throw bad_argument("table " + table_ + ": \"data\" is " + data.dump() +
                       "; expected an object from names to values");
  }
  if (type_ == kHashConfigure) return write_fields(data);
  write_algorithm(args, data);
}

Json HashCodec::read(const Json& args) const {
  if (type_ == kHashConfigure) return {{"table", table_}, {"data", fields()}};
  if (type_ == kHashAlgorithm) {
    const bool is_named = !hash_.algorithm().name.empty();
    return {{"table", table_},
            {"action", is_named ? kPreDefined : kUserDefined},
            {"data", algorithm()}};
  }
  const Json key = args.value("key", Json());
  if (!key.is_object()) {
    throw bad_argument("table " + table_ + ": \"key\" is " + key.dump() +
                       "; expected an object from fields to values");
  }
  return {{"table", table_}, {"data", {{"hash_value", computed(key)}}}};
}

void HashCodec::reset() {
  if (type_ == kHashCompute) throw bad_argument("table " + table_ + " can only be read");
  if (type_ == kHashConfigure) return hash_.reset_slices();
  hash_.reset_algorithm();
}

// --- Fields ---

std::size_t HashCodec::field_of(const std::string& name) const {
  const auto& fields = hash_.shape().fields;
  const auto has_name = [&](const HashField& field) { return field.name == name; };
  const auto found = std::find_if(fields.begin(), fields.end(), has_name);
  if (found == fields.end()) {
    std::string names;
    for (const HashField& field : fields) names += (names.empty() ? "" : ", ") + field.name;
    throw bad_argument("table " + table_ + ": no field \"" + name + "\"; expected " +
                       (names.empty() ? "none: the program hashes no list of fields" : names));
  }
  if (std::find_if(found + 1, fields.end(), has_name) != fields.end()) {
    throw bad_argument("table " + table_ + ": the program hashes field " + name +
                       " twice, so that its name is not clear; give one of them another way in P4");
  }
  return static_cast<std::size_t>(found - fields.begin());
}

HashSlice HashCodec::slice(std::size_t field, const Json& given) const {
  const HashField& described = hash_.shape().fields[field];
  const std::string what = "table " + table_ + ", field " + described.name;
  if (!given.is_object()) {
    throw bad_argument(what + ": " + given.dump() +
                       "; expected {\"order\", [\"start_bit\"], [\"length\"]}");
  }
  check_names(given, {"order", "start_bit", "length"}, what);
  if (!given.contains("order")) throw bad_argument(what + ": order is missing; 0 leaves it out");
  const auto width = static_cast<std::uint64_t>(described.width);
  const std::uint64_t start_bit = number(given, "start_bit", 0, 64, what);
  if (start_bit >= width) {
    throw bad_argument(what + ": start_bit " + std::to_string(start_bit) +
                       " is not below the field's " + std::to_string(width) + " bits");
  }
  // A length beyond the end is cut off, and none leaves the slice out, as in an SDE.
  const std::uint64_t length =
      std::min(number(given, "length", width, 64, what), width - start_bit);
  const std::uint64_t order = length == 0 ? 0 : number(given, "order", 0, 64, what);
  return {field, static_cast<int>(start_bit), static_cast<int>(length), order};
}

void HashCodec::check_beside(const std::vector<HashSlice>& before, const HashSlice& added) const {
  const auto& fields = hash_.shape().fields;
  const std::string what =
      "table " + table_ + ", field " + fields[added.field].name + ", " + range(added) + ": ";
  int of_this_order = 0;
  for (const HashSlice& other : before) {
    const bool overlap = other.field == added.field &&
                         other.start_bit < added.start_bit + added.length &&
                         added.start_bit < other.start_bit + other.length;
    if (overlap) refuse({what, "they overlap with ", range(other)});
    if (added.order == 0 || other.order != added.order) continue;
    if (other.length != added.length) {
      refuse({what, "field ", fields[other.field].name, ", ", range(other),
              ", has the same order, so that they may change places, and another length; expected ",
              "equal lengths or another order"});
    }
    if (++of_this_order == 2) {
      refuse({what, "order ", std::to_string(added.order),
              " has two slices already; expected at most two, which may change places"});
    }
  }
}

void HashCodec::write_fields(const Json& data) {
  if (data.empty()) return hash_.reset_slices();
  if (!hash_.shape().pairs.empty()) {
    throw bad_argument("table " + table_ +
                       ": the hash is @symmetric in P4, so that its fields cannot be configured; "
                       "leave that out and give both fields of a pair the same order");
  }
  std::vector<HashSlice> slices;
  for (const auto& [name, list] : data.items()) {
    const std::size_t field = field_of(name);
    if (!list.is_array())
      refuse(
          {"table ", table_, ", field ", name, ": ", list.dump(), "; expected a list of slices"});
    for (const Json& given : list) {
      const HashSlice added = slice(field, given);
      check_beside(slices, added);
      slices.push_back(added);
    }
  }
  hash_.set_slices(std::move(slices));
}

Json HashCodec::fields() const {
  Json data = Json::object();
  const auto add = [&](const HashSlice& slice) {
    data[hash_.shape().fields[slice.field].name].push_back(
        {{"order", slice.order}, {"start_bit", slice.start_bit}, {"length", slice.length}});
  };
  for (const HashSlice& slice : hash_.slices()) add(slice);
  const auto& fields = hash_.shape().fields;
  for (std::size_t field = 0; field < fields.size(); ++field)
    if (!data.contains(fields[field].name)) add({field, 0, fields[field].width, 0});
  return data;
}

// --- Algorithm ---

void HashCodec::write_algorithm(const Json& args, const Json& data) {
  const std::string what = "table " + table_;
  const std::string action = args.value("action", "");
  if (action.empty()) {
    check_names(data, {"seed"}, what + ", without an action");
    if (data.empty()) throw bad_argument(what + ": nothing to set; expected an action or a seed");
    return hash_.set_seed(number(data, "seed", 0, 32, what));
  }
  HashAlgorithm chosen;
  if (action == kPreDefined) {
    check_names(data, {"algorithm_name", "rotate", "seed", "msb", "extend"}, what);
    const Json name = data.value("algorithm_name", Json("RANDOM"));
    if (!name.is_string())
      throw bad_argument(what + ", algorithm_name: " + name.dump() + "; expected a text");
    try {
      chosen = named_hash_algorithm(name.get<std::string>(), hash_.shape().width);
    } catch (const CommandError& error) {
      throw bad_argument(what + ", algorithm_name: " + error.what());
    }
  } else if (action == kUserDefined) {
    chosen = user_defined(data);
  } else {
    throw bad_argument(what + ": no action \"" + action + "\"; expected " + kPreDefined + " or " +
                       kUserDefined);
  }
  chosen.msb = flag(data, "msb", what);
  chosen.extend = flag(data, "extend", what);
  const std::uint64_t rotation = number(data, "rotate", 0, 32, what);
  const int used = hash_.shape().used_bits;
  if (rotation >= static_cast<std::uint64_t>(used)) {
    throw bad_argument(what + ": rotate " + std::to_string(rotation) + " is not below the " +
                       std::to_string(used) + " bits of the hash that the program uses");
  }
  const bool has_seed = data.contains("seed");
  const std::uint64_t seed = number(data, "seed", 0, 32, what);
  hash_.set_algorithm(std::move(chosen), static_cast<int>(rotation));
  if (has_seed) hash_.set_seed(seed);
}

HashAlgorithm HashCodec::user_defined(const Json& data) const {
  const std::string what = "table " + table_;
  check_names(data,
              {"polynomial", "reverse", "init", "final_xor", "hash_bit_width", "rotate", "seed",
               "msb", "extend"},
              what);
  if (!data.contains("polynomial"))
    throw bad_argument(what + ": polynomial is missing; expected a number without the leading 1");
  const auto own_width = static_cast<std::uint64_t>(hash_.shape().width);
  const std::uint64_t width = number(data, "hash_bit_width", own_width, 64, what);
  if (width < 1 || width > kMostWidth) {
    throw bad_argument(what + ": hash_bit_width " + std::to_string(width) + "; expected 1 to " +
                       std::to_string(kMostWidth));
  }
  const int bits = static_cast<int>(width);
  HashAlgorithm crc{.name = "", .kind = HashAlgorithm::Kind::kCrc, .width = bits};
  crc.polynomial = number(data, "polynomial", 0, bits, what);
  if (crc.polynomial % 2 == 0)
    throw bad_argument(what + ": the polynomial is even; expected an odd one");
  crc.initial = number(data, "init", 0, bits, what);
  crc.final_xor = number(data, "final_xor", 0, bits, what);
  crc.reverse = flag(data, "reverse", what);
  return crc;
}

Json HashCodec::algorithm() const {
  const HashAlgorithm& chosen = hash_.algorithm();
  Json data = {{"rotate", hash_.rotation()},
               {"seed", hash_.seed() & 0xFFFF'FFFF},
               {"msb", chosen.msb},
               {"extend", chosen.extend}};
  if (!chosen.name.empty()) {
    data["algorithm_name"] = chosen.name;
    return data;
  }
  data["polynomial"] = chosen.polynomial;
  data["reverse"] = chosen.reverse;
  data["init"] = chosen.initial;
  data["final_xor"] = chosen.final_xor;
  data["hash_bit_width"] = chosen.width;
  return data;
}

// --- Values ---

Json HashCodec::computed(const Json& key) const {
  const HashShape& shape = hash_.shape();
  if (shape.fields.empty()) {
    throw bad_argument("table " + table_ +
                       ": the program hashes no list of fields, so that there is nothing to give; "
                       "write them as a list in P4");
  }
  std::vector<std::uint64_t> words = shape.constants;
  for (const auto& [name, value] : key.items()) {
    const std::size_t field = field_of(name);
    const HashField& described = shape.fields[field];
    const std::string what = "table " + table_ + ", field " + name;
    if (described.is_constant) throw bad_argument(what + " is a constant of the program");
    pack_field(words.data(), hash_.lowest_bit(field), described.width,
               parse_value(value, described.width, what));
  }
  const std::uint64_t mask = (~std::uint64_t{0} >> (64 - shape.used_bits)) << shape.used_low;
  return hash_.value_of(words) & mask;
}

}  // namespace turntable::dataplane
