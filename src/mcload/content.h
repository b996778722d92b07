// What a memcached is filled with: records 0, 1, … whose keys and sizes of values are functions of
// (seed, record), so that every client knows what is stored, and a miss is a real miss.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load/variate.h"

namespace turntable::mcload {

struct ContentSettings {
  std::uint32_t records = 10'000;
  std::string key_size = "fixed:30";
  std::string value_size = "fixed:200";
  std::uint64_t seed = 1;

  // {"records", "key_size", "value_size", "seed"}; throws CommandError.
  static ContentSettings from_json(const std::string& where, const nlohmann::json& content);
};

class Content {
 public:
  static constexpr std::size_t kMaxKeyBytes = 250;  // memcached's
  static constexpr std::size_t kKeyRoom = 256;      // zeros are written in blocks of 16
  // memcached's default limit of items is 1 MiB with key and header; larger values are cut.
  static constexpr std::size_t kMaxValueBytes = 1'000'000;
  static constexpr std::uint32_t kMaxRecords = 500'000'000;

  // Of random sizes so many records at most may lie outside of what memcached and the numbers of
  // the records allow; they are moved to the nearer end of it.
  static constexpr double kMostMoved = 0.01;

  // Throws std::invalid_argument for a distribution that is none, or one of whose sizes more than
  // kMostMoved are impossible; a size that is the same for all must be possible.
  explicit Content(const ContentSettings& settings);

  std::uint32_t records() const noexcept { return settings_.records; }
  const ContentSettings& settings() const noexcept { return settings_; }

  // A key is the record's number with zeros in front, at least as long as the last record's number:
  // so no two are the same. Written anew for each request: that is faster than to fetch it from
  // memory that is not in a cache. `out` has room for kKeyRoom.
  std::string_view key(std::uint32_t record, char* out) const noexcept;
  std::uint32_t value_bytes(std::uint32_t record) const noexcept {
    return value_bytes_.empty() ? fixed_value_bytes_ : value_bytes_[record];
  }
  std::span<const char> value(std::uint32_t record) const noexcept {
    return {pattern_.data(), value_bytes(record)};
  }

  // The key of a record that is stored last: it tells this content from all others.
  const std::string& marker() const noexcept { return marker_; }

  std::uint64_t total_bytes() const noexcept;  // of keys and values

  // Says how many sizes were moved; empty: none was.
  const std::string& note() const noexcept { return note_; }

 private:
  struct Sizes;
  // One for all records, or one for each; answers the largest.
  template <typename Bytes>
  std::uint32_t draw(const Sizes& sizes, std::uint32_t& of_all, std::vector<Bytes>& of_each);

  std::uint32_t key_bytes(std::uint32_t record) const noexcept {
    return key_bytes_.empty() ? fixed_key_bytes_ : key_bytes_[record];
  }

  ContentSettings settings_;
  std::string marker_;
  std::uint32_t fixed_key_bytes_ = 0;
  std::uint32_t fixed_value_bytes_ = 0;
  std::vector<std::uint8_t> key_bytes_;  // empty: all have the same
  std::vector<std::uint32_t> value_bytes_;
  std::string note_;
  std::string pattern_;  // every value is a beginning of it
};

}  // namespace turntable::mcload
