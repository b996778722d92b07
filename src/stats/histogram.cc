#include "stats/histogram.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "common/base64.h"
#include "stats/histogram_form.h"

namespace turntable::stats {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <typename T>
void put_big_endian(Bytes& out, T value) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

// ZigZag LEB128-64b9B: seven bits a byte, least significant first, and all eight of a ninth.
void put_zigzag(Bytes& out, std::int64_t value) {
  auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (int byte = 0; byte < 8; ++byte) {
    if (bits < 0x80) {
      out.push_back(static_cast<std::uint8_t>(bits));
      return;
    }
    out.push_back(static_cast<std::uint8_t>(bits | 0x80));
    bits >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(bits));
}

// A count is written as it is, a run of n zero counts as -n.
Bytes encode_counts(const std::uint64_t* begin, const std::uint64_t* end) {
  Bytes out;
  for (const auto* count = begin; count != end;) {
    if (*count != 0) {
      put_zigzag(out, static_cast<std::int64_t>(*count++));
      continue;
    }
    const auto* run_end = std::find_if(count, end, [](std::uint64_t c) { return c != 0; });
    put_zigzag(out, count - run_end);
    count = run_end;
  }
  return out;
}

Bytes deflate_all(const Bytes& plain) {
  uLongf size = compressBound(plain.size());
  Bytes compressed(size);
  if (compress(compressed.data(), &size, plain.data(), plain.size()) != Z_OK) {
    throw std::runtime_error("histogram: zlib could not compress " + std::to_string(plain.size()) +
                             " bytes (out of memory?)");
  }
  compressed.resize(size);
  return compressed;
}

}  // namespace

Histogram::Histogram(std::int64_t highest_trackable) : highest_trackable_(highest_trackable) {
  if (highest_trackable < 2) {
    throw std::invalid_argument("histogram: highest trackable value is " +
                                std::to_string(highest_trackable) + ", expected at least 2");
  }
  // Whole buckets, as other implementations allocate them.
  const auto buckets = static_cast<std::size_t>(bucket_of(highest_trackable)) + 1;
  counts_.resize((buckets + 1) * kSubBucketHalf);
}

void Histogram::merge(const Histogram& other) {
  if (other.highest_trackable_ != highest_trackable_) {
    throw std::invalid_argument("histogram: cannot merge a range up to " +
                                std::to_string(other.highest_trackable_) + " into one up to " +
                                std::to_string(highest_trackable_));
  }
  std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                 std::plus<>());
  total_ += other.total_;
  clamped_ += other.clamped_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() noexcept {
  std::fill(counts_.begin(), counts_.end(), 0);
  total_ = clamped_ = sum_ = 0;
  max_ = 0;
}

std::int64_t Histogram::highest_equivalent(std::size_t index) noexcept {
  const auto position = static_cast<std::int64_t>(index);
  const std::int64_t bucket = std::max<std::int64_t>(0, (position >> kSubBucketHalfBits) - 1);
  const std::int64_t sub_bucket = position - (bucket << kSubBucketHalfBits);
  return ((sub_bucket + 1) << bucket) - 1;
}

std::int64_t Histogram::value_at_percentile(double percent) const noexcept {
  if (total_ == 0) return 0;
  // Just below the requested percentage, so that a share such as 0.999 of 2,000, which is not exact
  // in binary, does not round up to the next rank.
  const double share = std::nextafter(std::clamp(percent, 0.0, 100.0), 0.0) / 100.0;
  const double rank = std::ceil(share * static_cast<double>(total_));
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rank));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted) return highest_equivalent(i);
  }
  return max_;
}

std::string Histogram::encode() const {
  const std::size_t used = total_ == 0 ? 0 : index_of(max_) + 1;
  const Bytes payload = encode_counts(counts_.data(), counts_.data() + used);

  Bytes plain;
  put_big_endian(plain, kV2Cookie);
  put_big_endian(plain, static_cast<std::uint32_t>(payload.size()));
  put_big_endian(plain, std::uint32_t{0});  // normalizing index offset: only for shifted histograms
  put_big_endian(plain, std::uint32_t{kSignificantDigits});
  put_big_endian(plain, std::int64_t{1});  // lowest discernible value
  put_big_endian(plain, highest_trackable_);
  put_big_endian(plain, std::bit_cast<std::uint64_t>(1.0));  // integer to double conversion ratio
  plain.insert(plain.end(), payload.begin(), payload.end());

  const Bytes compressed = deflate_all(plain);
  Bytes encoded;
  put_big_endian(encoded, kV2CompressedCookie);
  put_big_endian(encoded, static_cast<std::uint32_t>(compressed.size()));
  encoded.insert(encoded.end(), compressed.begin(), compressed.end());
  return base64_encode(encoded);
}

}  // namespace turntable::stats
