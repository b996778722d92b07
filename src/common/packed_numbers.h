// Many numbers as one JSON value: {"bytes": 1, 2, 4 or 8 of each, "raw": all of them, each in
// little-endian order, as a binary value}. In the control protocol these bytes follow the line
// (node/raw_section.h): thirty times as quick to write and to read as an array of numbers.
#pragma once

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/command_error.h"

namespace turntable {

static_assert(std::endian::native == std::endian::little);

inline nlohmann::json pack_numbers(std::span<const std::uint64_t> numbers) {
  std::uint64_t any = 0;
  for (const std::uint64_t number : numbers) any |= number;
  std::size_t each = 1;
  while (each < sizeof(any) && any >> (8 * each) != 0) each *= 2;
  nlohmann::json::binary_t::container_type bytes(numbers.size() * each);
  std::uint8_t* at = bytes.data();
  for (const std::uint64_t number : numbers) {
    std::memcpy(at, &number, each);
    at += each;
  }
  return {{"bytes", each}, {"raw", nlohmann::json::binary(std::move(bytes))}};
}

// Throws bad_argument, naming the value by `what`, if it has another form.
inline std::vector<std::uint64_t> unpack_numbers(const nlohmann::json& value,
                                                 const std::string& what) {
  constexpr const char* kForm =
      R"({"bytes": 1, 2, 4 or 8, "raw": numbers of so many bytes each, little-endian})";
  const auto fail = [&](const std::string& why) {
    throw bad_argument(what + ": " + why + "; expected " + kForm);
  };
  const auto raw = value.is_object() ? value.find("raw") : value.end();
  const auto size = value.is_object() ? value.find("bytes") : value.end();
  if (raw == value.end() || size == value.end() || value.size() != 2) {
    fail("an object that is no packed numbers");
  }
  const bool is_size = *size == 1 || *size == 2 || *size == 4 || *size == 8;
  if (!is_size) fail("\"bytes\" is " + size->dump());
  if (!raw->is_binary()) fail("\"raw\" is no raw bytes of this message");
  const auto each = size->get<std::size_t>();
  const nlohmann::json::binary_t& bytes = raw->get_binary();
  if (bytes.size() % each != 0) {
    fail(std::to_string(bytes.size()) + " bytes are no whole number of " + std::to_string(each));
  }
  std::vector<std::uint64_t> numbers(bytes.size() / each);
  const std::uint8_t* at = bytes.data();
  for (std::uint64_t& number : numbers) {
    std::memcpy(&number, at, each);
    at += each;
  }
  return numbers;
}

}  // namespace turntable
