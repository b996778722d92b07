// The contents of values: a function of key and version, so that whoever reads a value can check
// that it belongs to the key, wherever it was kept.
#pragma once

#include <cstdint>
#include <span>

#include "workload/key.h"

namespace turntable::kv {

// Version of the records that were there before the run.
inline constexpr std::uint64_t kLoadedVersion = 0;

// Writes value.size() bytes: the version (8 bytes, big-endian), then a pseudo-random sequence that
// depends on key and version. Shorter values are a prefix of longer ones.
void fill_value(std::span<std::uint8_t> value, workload::KeyId key, std::uint64_t version) noexcept;

// The version in a value; of one shorter than 8 bytes, what is there of it.
std::uint64_t value_version(std::span<const std::uint8_t> value) noexcept;

// Whether `value` is what fill_value wrote for `key` with any version. Values of 8 bytes or less
// hold no trace of the key and always match.
bool value_matches(std::span<const std::uint8_t> value, workload::KeyId key) noexcept;

}  // namespace turntable::kv
