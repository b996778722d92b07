// A record that goes from one server to another, in the bytes of a message:
//
//   key u64 · value u64 · tombstone u8
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hybridlog/log_scan.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

struct MovedRecord {
  static constexpr std::size_t kBytes = 17;
  std::uint64_t key;
  std::uint64_t value;
  bool is_tombstone;

  static constexpr std::size_t bytes() noexcept { return kBytes; }
};

inline void append(std::vector<std::uint8_t>& bytes, const hybridlog::ScannedRecord& record) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + MovedRecord::kBytes);
  auto* at = reinterpret_cast<std::byte*>(bytes.data() + begin);
  at = wire::write(at, record.key);
  at = wire::write(at, record.value);
  wire::write(at, static_cast<std::uint8_t>(record.is_tombstone ? 1 : 0));
}

// Nothing: what is there is no whole record.
inline std::optional<MovedRecord> next_record(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < MovedRecord::kBytes) return std::nullopt;
  return MovedRecord{.key = wire::read<std::uint64_t>(bytes.data()),
                     .value = wire::read<std::uint64_t>(bytes.data() + 8),
                     .is_tombstone = wire::read<std::uint8_t>(bytes.data() + 16) != 0};
}

}  // namespace turntable::shadowfax
