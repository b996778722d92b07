#include "node/raw_section.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/command_error.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

constexpr const char* kSize = "raw_bytes";
constexpr const char* kPart = "$raw";

// Not by recursion: whoever sends a message chooses its depth.
template <typename Visit>
void for_each_value(Json& message, Visit visit) {
  std::vector<Json*> left = {&message};
  while (!left.empty()) {
    Json& value = *left.back();
    left.pop_back();
    visit(value);
    if (!value.is_structured()) continue;
    for (Json& element : value) left.push_back(&element);
  }
}

std::string_view part_of(std::string_view section, const Json& place) {
  const bool is_pair = place.is_array() && place.size() == 2 && place[0].is_number_unsigned() &&
                       place[1].is_number_unsigned();
  if (is_pair) {
    const auto begin = place[0].get<std::size_t>();
    const auto size = place[1].get<std::size_t>();
    if (begin <= section.size() && size <= section.size() - begin) {
      return section.substr(begin, size);
    }
  }
  throw bad_argument(std::string("message: \"") + kPart + "\" is " + place.dump().substr(0, 80) +
                     "; expected [begin, size] within the " + std::to_string(section.size()) +
                     " raw bytes behind its line");
}

}  // namespace

std::string detach_raw(Json& message) {
  std::string section;
  bool is_any = false;
  for_each_value(message, [&](Json& value) {
    if (!value.is_binary()) return;
    is_any = true;
    const Json::binary_t& bytes = value.get_binary();
    const std::size_t begin = section.size();
    section.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    value = {{kPart, Json::array({begin, section.size() - begin})}};
  });
  if (section.size() > kMaxRawBytes) {
    throw bad_argument("message: " + std::to_string(section.size()) +
                       " raw bytes; expected at most " + std::to_string(kMaxRawBytes) +
                       ": send several smaller ones");
  }
  if (is_any) message[kSize] = section.size();
  return section;
}

bool has_raw(const Json& message) {
  return message.contains(kSize);
}

std::size_t raw_bytes(const Json& message) {
  const Json& size = message.at(kSize);
  if (size.is_number_unsigned() && size.get<std::uint64_t>() <= kMaxRawBytes) {
    return size.get<std::size_t>();
  }
  throw bad_argument(std::string("message: \"") + kSize + "\" is " + size.dump().substr(0, 80) +
                     "; expected how many bytes follow the line, at most " +
                     std::to_string(kMaxRawBytes) + ". The connection is closed");
}

void attach_raw(Json& message, std::string_view section) {
  message.erase(kSize);
  for_each_value(message, [&](Json& value) {
    if (!value.is_object() || value.size() != 1 || !value.contains(kPart)) return;
    const std::string_view bytes = part_of(section, value[kPart]);
    value = Json::binary(Json::binary_t::container_type(bytes.begin(), bytes.end()));
  });
}

}  // namespace turntable::node
