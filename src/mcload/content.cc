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

struct Content::Sizes {
  const char* what;  // for messages
  load::Variate variate;
  std::uint64_t stream;
  double least, most;
  std::string why;

  double drawn(std::uint64_t seed, std::uint32_t record) const {
    const double uniform = workload::unit_interval(workload::stream_seed(seed, stream, record));
    return std::round(variate.value(uniform));
  }
  bool is_possible(double bytes) const { return bytes >= least && bytes <= most; }
  std::string range() const {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.0f to %.0f bytes", least, most);
    return text.data();
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw std::invalid_argument(std::string("size of ") + what + " \"" + variate.text() +
                                "\": " + message + ": " + why);
  }
};

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
  const std::uint32_t last = settings.records - 1, digits = digits_of(last);
  const Sizes keys = {.what = "keys (-K, key_size)",
                      .variate = load::Variate::parse(settings.key_size),
                      .stream = kKeyStream,
                      .least = static_cast<double>(digits),
                      .most = kMaxKeyBytes,
                      .why = "a key is its record's number, and the last one, " +
                             std::to_string(last) + ", has " + std::to_string(digits) +
                             " digits; memcached's keys have " + std::to_string(kMaxKeyBytes) +
                             " bytes at most"};
  const Sizes values = {.what = "values (-V, value_size)",
                        .variate = load::Variate::parse(settings.value_size),
                        .stream = kValueStream,
                        .least = 0,
                        .most = kMaxValueBytes,
                        .why = "memcached's items have 1 MiB at most, with key and header"};
  draw(keys, fixed_key_bytes_, key_bytes_);
  pattern_ = letters(draw(values, fixed_value_bytes_, value_bytes_), settings.seed);
}

template <typename Bytes>
std::uint32_t Content::draw(const Sizes& sizes, std::uint32_t& of_all,
                            std::vector<Bytes>& of_each) {
  if (is_fixed(sizes.variate)) {
    const double bytes = sizes.drawn(settings_.seed, 0);
    if (!sizes.is_possible(bytes)) sizes.fail("expected " + sizes.range());
    return of_all = static_cast<std::uint32_t>(bytes);
  }
  of_each.resize(records());
  std::uint32_t moved = 0, largest = 0;
  for (std::uint32_t record = 0; record < records(); ++record) {
    const double drawn = sizes.drawn(settings_.seed, record);
    if (!sizes.is_possible(drawn)) ++moved;
    const auto bytes = static_cast<std::uint32_t>(std::clamp(drawn, sizes.least, sizes.most));
    of_each[record] = static_cast<Bytes>(bytes);
    largest = std::max(largest, bytes);
  }
  if (moved == 0) return largest;
  const std::string share = std::to_string(moved) + " of " + std::to_string(records());
  if (moved > kMostMoved * records()) {
    sizes.fail(share + " are not " + sizes.range() + "; expected one in a hundred at most");
  }
  note_ += (note_.empty() ? "" : "; ") + share + " sizes of " + sizes.what + " were not " +
           sizes.range() + ", and are moved to the nearer end";
  return largest;
}

std::string_view Content::key(std::uint32_t record, char* out) const noexcept {
  const std::uint32_t bytes = key_bytes(record);
  constexpr std::string_view kZeros = "0000000000000000";
  for (std::size_t at = 0; at < bytes; at += kZeros.size())
    std::memcpy(out + at, kZeros.data(), kZeros.size());
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
