#include "mcload/item_stats.h"

#include <charconv>

namespace turntable::mcload {
namespace {

constexpr std::size_t kHeaderBytes = 24;
constexpr char kReplyMagic = '\x81';
constexpr std::string_view kBinaryRequest("\x80\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                                          kHeaderBytes);

std::size_t number_at(std::string_view bytes, std::size_t at, std::size_t size) noexcept {
  std::size_t number = 0;
  for (const char byte : bytes.substr(at, size))
    number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

std::string_view ItemStatsReader::request(Protocol protocol) noexcept {
  return protocol == Protocol::kAscii ? "stats\r\n" : kBinaryRequest;
}

bool ItemStatsReader::feed(std::string_view bytes) {
  held_.append(bytes);
  while (!is_complete_ && (protocol_ == Protocol::kAscii ? take_line() : take_packet())) {
  }
  return is_complete_;
}

std::optional<ItemStats> ItemStatsReader::stats() const noexcept {
  if (!items_ || !evictions_) return std::nullopt;
  return ItemStats{*items_, *evictions_};
}

// STAT <name> <value>, and at last END. False: none is there.
bool ItemStatsReader::take_line() {
  const std::size_t end = held_.find(kLineEnd);
  if (end == std::string::npos) return false;
  const std::string_view line = std::string_view(held_).substr(0, end);
  constexpr std::string_view kBegin = "STAT ";
  const std::size_t space = line.find(' ', kBegin.size());
  if (!line.starts_with(kBegin)) {
    is_complete_ = true;  // END, or an error
  } else if (space != std::string_view::npos) {
    note(line.substr(kBegin.size(), space - kBegin.size()), line.substr(space + 1));
  }
  held_.erase(0, end + kLineEnd.size());
  return true;
}

// A packet for each, and at last one without a name.
bool ItemStatsReader::take_packet() {
  // Of another protocol there may never be as many bytes as a header has.
  is_complete_ = !held_.empty() && held_.front() != kReplyMagic;
  if (is_complete_ || held_.size() < kHeaderBytes) return false;
  const std::size_t name = number_at(held_, 2, 2), extras = number_at(held_, 4, 1);
  const std::size_t status = number_at(held_, 6, 2), body = number_at(held_, 8, 4);
  if (held_.size() < kHeaderBytes + body) return false;
  if (name == 0 || status != 0 || extras + name > body) {
    is_complete_ = true;
  } else {
    const std::string_view text = std::string_view(held_).substr(kHeaderBytes + extras);
    note(text.substr(0, name), text.substr(name, body - extras - name));
  }
  held_.erase(0, kHeaderBytes + body);
  return true;
}

void ItemStatsReader::note(std::string_view name, std::string_view value) noexcept {
  std::optional<std::uint64_t>* const wanted = name == "curr_items"  ? &items_
                                               : name == "evictions" ? &evictions_
                                                                     : nullptr;
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  if (wanted != nullptr && std::from_chars(value.data(), end, number).ec == std::errc())
    *wanted = number;
}

}  // namespace turntable::mcload
