#include "mcload/content.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/command_error.h"
#include "node/arguments.h"
#include "workload/random.h"

namespace turntable::mcload {
namespace {

constexpr std::uint64_t kKeyStream = 1;
constexpr std::uint64_t kValueStream = 2;

std::uint32_t digits_of(std::uint32_t number) {
  return static_cast<std::uint32_t>(std::to_string(number).size());
}

bool is_fixed(const load::Variate& size) {
  return size.value(0) == size.value(1 - 0x1.0p-53);
}

std::uint32_t size_of(const load::Variate& size, std::uint64_t seed, std::uint64_t stream,
                      std::uint32_t record, double least, double most) {
  const double uniform = workload::unit_interval(workload::stream_seed(seed, stream, record));
  return static_cast<std::uint32_t>(std::clamp(std::round(size.value(uniform)), least, most));
}

// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return workload::SplitMix64::mix(hash);
}

std::string marker_of(const ContentSettings& s) {
  const std::string content = std::to_string(s.records) + " " + s.key_size + " " + s.value_size +
                              " " + std::to_string(s.seed);
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx",
                static_cast<unsigned long long>(hash_of(content)));
  return std::string("turntable-content-") + hex.data();
}

// Letters, so that a dump of a store or of packets can be read.
std::string letters(std::size_t size, std::uint64_t seed) {
  workload::SplitMix64 random(seed);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random.next() % 26);
  return text;
}

}  // namespace

ContentSettings ContentSettings::from_json(const std::string& where,
                                           const nlohmann::json& content) {
  const node::Arguments fields(where + ", content", content,
                               {"records", "key_size", "value_size", "seed"});
  ContentSettings settings;
  settings.records = static_cast<std::uint32_t>(fields.integer("records", 1, Content::kMaxRecords));
  settings.key_size = fields.text_or("key_size", settings.key_size);
  settings.value_size = fields.text_or("value_size", settings.value_size);
  settings.seed = static_cast<std::uint64_t>(fields.integer_or("seed", 0, INT64_MAX, 1));
  for (const char* name : {"key_size", "value_size"}) {
    try {
      load::Variate::parse(fields.text_or(name, "1"));
    } catch (const std::invalid_argument& error) {
      throw bad_argument(where + ", content, " + name + ": " + error.what());
    }
  }
  return settings;
}

Content::Content(const ContentSettings& settings)
    : settings_(settings), marker_(marker_of(settings)) {
  const auto keys = load::Variate::parse(settings.key_size);
  const auto values = load::Variate::parse(settings.value_size);
  const std::uint32_t digits = digits_of(settings.records - 1);
  const auto key_size = [&](std::uint32_t record) {
    return size_of(keys, settings.seed, kKeyStream, record, digits, kMaxKeyBytes);
  };
  const auto value_size = [&](std::uint32_t record) {
    return size_of(values, settings.seed, kValueStream, record, 0, kMaxValueBytes);
  };
  fixed_key_bytes_ = key_size(0);
  fixed_value_bytes_ = value_size(0);
  std::uint32_t largest = fixed_value_bytes_;
  if (!is_fixed(keys)) {
    key_bytes_.resize(settings.records);
    for (std::uint32_t record = 0; record < settings.records; ++record)
      key_bytes_[record] = static_cast<std::uint8_t>(key_size(record));
  }
  if (!is_fixed(values)) {
    value_bytes_.resize(settings.records);
    for (std::uint32_t record = 0; record < settings.records; ++record)
      largest = std::max(largest, value_bytes_[record] = value_size(record));
  }
  pattern_ = letters(largest, settings.seed);
}

std::string_view Content::key(std::uint32_t record, char* out) const noexcept {
  const std::uint32_t bytes = key_bytes(record);
  std::memset(out, '0', bytes);
  for (char* at = out + bytes; record > 0; record /= 10)
    *--at = static_cast<char>('0' + record % 10);
  return {out, bytes};
}

std::uint64_t Content::total_bytes() const noexcept {
  std::uint64_t total = 0;
  for (std::uint32_t record = 0; record < records(); ++record)
    total += key_bytes(record) + value_bytes(record);
  return total;
}

}  // namespace turntable::mcload
