// A record that goes from one server to another, in the bytes of a RECORDS message:
//
//   key u64 · tombstone u8 · length u32 | value        of a tombstone there is no value
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hybridlog/log_scan.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

struct MovedRecord {
  static constexpr std::size_t kHeaderBytes = 13;
  std::uint64_t key;
  hybridlog::Bytes value;  // where it was read
  bool is_tombstone;

  std::size_t bytes() const noexcept { return kHeaderBytes + value.size(); }
};

inline void append(std::vector<std::uint8_t>& bytes, const hybridlog::ScannedRecord& record) {
  const hybridlog::Bytes value = record.is_tombstone ? hybridlog::Bytes() : record.value;
  const std::size_t begin = bytes.size();
  bytes.resize(begin + MovedRecord::kHeaderBytes + value.size());
  auto* at = reinterpret_cast<std::byte*>(bytes.data() + begin);
  at = wire::write(at, record.key);
  at = wire::write(at, static_cast<std::uint8_t>(record.is_tombstone ? 1 : 0));
  at = wire::write(at, static_cast<std::uint32_t>(value.size()));
  if (!value.empty()) std::memcpy(at, value.data(), value.size());
}

// Nothing: what is there is no whole record.
inline std::optional<MovedRecord> next_record(hybridlog::Bytes bytes) noexcept {
  if (bytes.size() < MovedRecord::kHeaderBytes) return std::nullopt;
  const std::size_t length = wire::read<std::uint32_t>(bytes.data() + 9);
  const hybridlog::Bytes behind = bytes.subspan(MovedRecord::kHeaderBytes);
  if (length > behind.size()) return std::nullopt;
  return MovedRecord{.key = wire::read<std::uint64_t>(bytes.data()),
                     .value = behind.first(length),
                     .is_tombstone = wire::read<std::uint8_t>(bytes.data() + 8) != 0};
}

}  // namespace turntable::shadowfax
