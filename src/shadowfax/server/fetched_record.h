// What a server asks another one for that it has been pointed to, in the bytes of a FETCH message,
// and of its answer:
//
//   question   address u64 · key u64
//   answer     found u8 · length u32 | value      in the order of the questions; those that have
//              none, because there is no room for them, are to be asked again
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hybridlog/elsewhere.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

struct FetchQuestion {
  static constexpr std::size_t kBytes = 16;
  hybridlog::Address address;
  std::uint64_t key;
};

inline void append(std::vector<std::uint8_t>& bytes, const FetchQuestion& question) {
  bytes.resize(bytes.size() + FetchQuestion::kBytes);
  auto* at = reinterpret_cast<std::byte*>(bytes.data() + bytes.size() - FetchQuestion::kBytes);
  at = wire::write(at, question.address);
  wire::write(at, question.key);
}

// bytes: of kBytes.
inline FetchQuestion read_fetch_question(const std::byte* at) noexcept {
  return {.address = wire::read<std::uint64_t>(at), .key = wire::read<std::uint64_t>(at + 8)};
}

struct FetchAnswer {
  static constexpr std::size_t kHeaderBytes = 5;
  hybridlog::OtherLogs::Found found;
  hybridlog::Bytes value;  // where it was read

  std::size_t bytes() const noexcept { return kHeaderBytes + value.size(); }
};

inline void append(std::vector<std::uint8_t>& bytes, const FetchAnswer& answer) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + answer.bytes());
  auto* at = reinterpret_cast<std::byte*>(bytes.data() + begin);
  at = wire::write(at, static_cast<std::uint8_t>(answer.found));
  at = wire::write(at, static_cast<std::uint32_t>(answer.value.size()));
  if (!answer.value.empty()) std::memcpy(at, answer.value.data(), answer.value.size());
}

// Nothing: what is there is no whole answer.
inline std::optional<FetchAnswer> next_fetch_answer(hybridlog::Bytes bytes) noexcept {
  if (bytes.size() < FetchAnswer::kHeaderBytes) return std::nullopt;
  const auto found = wire::read<std::uint8_t>(bytes.data());
  const std::size_t length = wire::read<std::uint32_t>(bytes.data() + 1);
  const hybridlog::Bytes behind = bytes.subspan(FetchAnswer::kHeaderBytes);
  if (found > static_cast<std::uint8_t>(hybridlog::OtherLogs::Found::kError) ||
      length > behind.size())
    return std::nullopt;
  return FetchAnswer{.found = static_cast<hybridlog::OtherLogs::Found>(found),
                     .value = behind.first(length)};
}

}  // namespace turntable::shadowfax
