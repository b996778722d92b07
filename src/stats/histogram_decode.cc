// The way back from the text form (stats/histogram.h).

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "common/base64.h"
#include "stats/histogram.h"
#include "stats/histogram_form.h"

namespace turntable::stats {
namespace {

constexpr std::size_t kHeaderBytes = 40;
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

using Bytes = std::vector<std::uint8_t>;

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument("histogram: " + what +
                              "; expected HdrHistogram's compressed V2 form in base64");
}

Bytes base64_bytes(std::string_view text) {
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t value = detail::kBase64Alphabet.find(c);
    if (value == std::string_view::npos) fail("a character is not base64");
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++count % 4 == 1) continue;
    bytes.push_back(static_cast<std::uint8_t>(bits >> (6 - 2 * ((count - 1) % 4))));
  }
  return bytes;
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at, std::size_t size) {
  if (at + size > bytes.size()) fail("the text ends early");
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = number << 8 | bytes[at + i];
  return number;
}

Bytes inflated(const Bytes& compressed) {
  Bytes plain(std::size_t{64} * 1024);
  for (;;) {
    uLongf size = plain.size();
    const int status =
        ::uncompress(plain.data(), &size, compressed.data() + 8, compressed.size() - 8);
    if (status == Z_OK) {
      plain.resize(size);
      return plain;
    }
    if (status != Z_BUF_ERROR || plain.size() >= kMaxBytes) fail("it cannot be decompressed");
    plain.resize(plain.size() * 4);
  }
}

// ZigZag LEB128-64b9B, as put_zigzag() writes it.
std::int64_t take_zigzag(const Bytes& bytes, std::size_t& at) {
  std::uint64_t bits = 0;
  for (unsigned byte = 0; byte < 9; ++byte) {
    const std::uint64_t next = number_at(bytes, at++, 1);
    if (byte == 8) {
      bits |= next << 56;
      break;
    }
    bits |= (next & 0x7f) << (7 * byte);
    if (next < 0x80) break;
  }
  return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
}

}  // namespace

Histogram Histogram::decode(std::string_view text) {
  const Bytes compressed = base64_bytes(text);
  if (number_at(compressed, 0, 4) != kV2CompressedCookie) fail("it begins with another number");
  number_at(compressed, 4, 4);  // the length; what is compressed follows
  const Bytes plain = inflated(compressed);
  const auto highest = static_cast<std::int64_t>(number_at(plain, 24, 8));
  const bool is_ours = number_at(plain, 0, 4) == kV2Cookie && number_at(plain, 8, 4) == 0 &&
                       number_at(plain, 12, 4) == std::uint64_t{kSignificantDigits} &&
                       number_at(plain, 16, 8) == 1 && highest >= 2;
  if (!is_ours) fail("it has another precision or unit");
  Histogram histogram(highest);
  std::size_t index = 0;
  for (std::size_t at = kHeaderBytes; at < plain.size();) {
    const std::int64_t count = take_zigzag(plain, at);
    const std::size_t left = histogram.counts_.size() - index;
    if (count < 0 ? -static_cast<std::uint64_t>(count) > left : left == 0)
      fail("it has more buckets than its range");
    if (count < 0) {
      index += static_cast<std::size_t>(-count);
      continue;
    }
    const std::int64_t lowest = index == 0 ? 0 : highest_equivalent(index - 1) + 1;
    const auto middle = static_cast<std::uint64_t>(lowest + highest_equivalent(index)) / 2;
    histogram.counts_[index++] = static_cast<std::uint64_t>(count);
    histogram.total_ += static_cast<std::uint64_t>(count);
    histogram.sum_ += middle * static_cast<std::uint64_t>(count);
    if (count > 0) histogram.max_ = highest_equivalent(index - 1);
  }
  histogram.max_ = std::min(histogram.max_, highest);
  return histogram;
}

}  // namespace turntable::stats
