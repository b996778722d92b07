// Numbers as P4Runtime's binary strings (specification 1.4, "Bytestrings"): most significant byte
// first. Any number of leading zeros is taken; what is sent has none.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "dataplane/bits.h"

namespace turntable::p4runtime_server {

// The largest number of `width` bits.
dataplane::uint128 all_ones(int width);

// Throws Refusal OUT_OF_RANGE, naming the field by `what`, for an empty string and for a number
// that needs more than `width` bits (1 to 128).
dataplane::uint128 from_bytestring(std::string_view bytes, int width, const std::string& what);

std::string to_bytestring(dataplane::uint128 value);

// A bit<W> or int<W>. An int<W> is in two's complement; what is taken may be sign-extended, what is
// sent is as short as it may be.
struct NumberType {
  int width;
  bool is_signed = false;
};

// The same for a value of a control command: an integer, "0x…", true or false; of an int<W> its
// bits.
nlohmann::json value_of(std::string_view bytes, NumberType type, const std::string& what);
std::string bytestring_of(const nlohmann::json& value, NumberType type);

}  // namespace turntable::p4runtime_server
