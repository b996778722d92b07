// Frames between switch-agent and data plane (docs/kvcache.md §3, "CPU port"): one form, one
// length.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "farreach/cache/record.h"

namespace turntable::cache {

inline constexpr std::uint16_t kControlEtherType = 0x88b5;
inline constexpr std::size_t kControlFrameBytes = 14 + 10 + 18 + 4 + 2 + 128 + 8;
inline constexpr std::uint16_t kDeletedLength = 0x8000;  // of a value: a tombstone

// A slot's state, the two top bits of its cell; the others are its record's number (§2).
inline constexpr std::uint32_t kLatest = 0;
inline constexpr std::uint32_t kAdmitted = std::uint32_t{0b10} << 30;
inline constexpr std::uint32_t kSuperseded = std::uint32_t{0b11} << 30;
constexpr std::uint32_t state_of(std::uint32_t cell) {
  return cell & ~kLargestNumber;
}
constexpr std::uint32_t number_of(std::uint32_t cell) {
  return cell & kLargestNumber;
}

// `valid` of a slot.
inline constexpr std::uint8_t kIgnored = 0;
inline constexpr std::uint8_t kNormal = 1;
inline constexpr std::uint8_t kBeingEvicted = 3;

struct ControlFrame {
  enum class Operation : std::uint8_t {
    kSetValid = 1,
    kAdmit = 2,
    kLoad = 3,
    kCase1 = 4,  // unasked: the record that a write replaced for the first time since the point
    kHot = 5,    // unasked, NetCache: a key that many clients read
  };

  Operation operation{};
  bool is_answer = false;
  std::uint8_t valid = 0;
  std::uint16_t egress_port = 0;
  std::uint16_t slot = 0;
  std::uint32_t frequency = 0;
  workload::KeyBytes key{};
  std::uint32_t request_id = 0;
  std::uint16_t length = 0;  // 0 to 128, or kDeletedLength
  // As the slot holds it: padded to 8 n bytes, which are the last ones.
  std::array<std::uint8_t, kMaxCachedBytes> value{};
  std::uint32_t cell = 0;
  std::uint32_t token = 0;

  bool operator==(const ControlFrame&) const = default;
};

using ControlFrameBytes = std::array<std::uint8_t, kControlFrameBytes>;

ControlFrameBytes encode(const ControlFrame& frame);

// Nothing if `bytes` is no control frame: another type, cut off, or a length that is none.
std::optional<ControlFrame> decode_control_frame(std::span<const std::uint8_t> bytes);

// The slot's record in a LOAD's answer or a CASE1 report.
Record record_of(const ControlFrame& frame);
// Makes `record` what an ADMIT writes, except for its cell. A record without a value is a
// tombstone.
void put_record(const Record& record, ControlFrame& frame);

}  // namespace turntable::cache
