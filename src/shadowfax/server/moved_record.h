// A record that goes from one server to another, in the bytes of a RECORDS message, and of others:
//
//   key u64 · kind u8 · length u32 | value        of a tombstone there is no value
//
// An indirection (hybridlog/indirection.h) has its hash where others have their key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hybridlog/indirection.h"
#include "hybridlog/log_scan.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

struct MovedRecord {
  enum class Kind : std::uint8_t { kValue = 0, kTombstone = 1, kIndirection = 2 };

  static constexpr std::size_t kHeaderBytes = 13;
  std::uint64_t key;
  hybridlog::Bytes value;  // where it was read
  Kind kind;

  std::size_t bytes() const noexcept { return kHeaderBytes + value.size(); }
};

inline void append(std::vector<std::uint8_t>& bytes, const MovedRecord& record) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + record.bytes());
  auto* at = reinterpret_cast<std::byte*>(bytes.data() + begin);
  at = wire::write(at, record.key);
  at = wire::write(at, static_cast<std::uint8_t>(record.kind));
  at = wire::write(at, static_cast<std::uint32_t>(record.value.size()));
  if (!record.value.empty()) std::memcpy(at, record.value.data(), record.value.size());
}

inline void append(std::vector<std::uint8_t>& bytes, const hybridlog::ScannedRecord& record) {
  if (record.is_tombstone) {
    append(bytes, MovedRecord{record.key, {}, MovedRecord::Kind::kTombstone});
  } else {
    append(bytes, MovedRecord{record.key, record.value, MovedRecord::Kind::kValue});
  }
}

inline void append(std::vector<std::uint8_t>& bytes, const hybridlog::Indirection& indirection) {
  const hybridlog::Indirection::Words value = indirection.value();
  append(bytes, MovedRecord{indirection.hash, std::as_bytes(std::span(value)),
                            MovedRecord::Kind::kIndirection});
}

// Nothing: what is there is no whole record.
inline std::optional<MovedRecord> next_record(hybridlog::Bytes bytes) noexcept {
  using Kind = MovedRecord::Kind;
  if (bytes.size() < MovedRecord::kHeaderBytes) return std::nullopt;
  const auto kind = static_cast<Kind>(wire::read<std::uint8_t>(bytes.data() + 8));
  const std::size_t length = wire::read<std::uint32_t>(bytes.data() + 9);
  const hybridlog::Bytes behind = bytes.subspan(MovedRecord::kHeaderBytes);
  if (length > behind.size() || kind > Kind::kIndirection ||
      (kind == Kind::kIndirection && length != hybridlog::Indirection::kBytes))
    return std::nullopt;
  return MovedRecord{
      .key = wire::read<std::uint64_t>(bytes.data()), .value = behind.first(length), .kind = kind};
}

}  // namespace turntable::shadowfax
