// A latency histogram with bounded relative error, in the layout and encoding of HdrHistogram.
//
// Values are non-negative integers; this project records nanoseconds. With three significant
// decimal digits every value below 2,048 is exact, and any other falls into a bucket at most
// 1/1,024 of its size wide. Histograms of equal range add up exactly, so percentiles of several
// clients come from the merged histogram and are never averaged.
//
// The text form is HdrHistogram's V2 compressed encoding in base64, as read by the Java, C and
// Python (PyPI `hdrhistogram`: HdrHistogram.decode) libraries. Format:
// https://github.com/HdrHistogram/HdrHistogram, AbstractHistogram.encodeIntoCompressedByteBuffer.
//
// record() allocates nothing. Not thread-safe: one histogram per thread, merged afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace turntable::stats {

class Histogram {
 public:
  static constexpr int kSignificantDigits = 3;

  // Values from 0 to highest_trackable (at least 2) can be told apart.
  explicit Histogram(std::int64_t highest_trackable);

  // Counts `value`; a value out of range is counted at the nearest end and in clamped().
  void record(std::int64_t value) noexcept {
    if (value < 0 || value > highest_trackable_) {
      ++clamped_;
      value = value < 0 ? 0 : highest_trackable_;
    }
    ++counts_[index_of(value)];
    ++total_;
    sum_ += static_cast<std::uint64_t>(value);
    if (value > max_) max_ = value;
  }

  // Adds the counts of `other`, which must have the same range (throws std::invalid_argument).
  void merge(const Histogram& other);
  void clear() noexcept;

  std::uint64_t count() const noexcept { return total_; }
  std::uint64_t clamped() const noexcept { return clamped_; }
  std::uint64_t sum() const noexcept {
    return sum_;
  }  // of the exact values; of clamped ones, the end
  std::int64_t max() const noexcept { return max_; }  // exact; 0 when nothing was recorded
  std::int64_t highest_trackable() const noexcept { return highest_trackable_; }

  // The highest value equivalent to the smallest recorded one whose cumulative share reaches
  // `percent` (0 to 100). 0 when nothing was recorded.
  std::int64_t value_at_percentile(double percent) const noexcept;

  std::string encode() const;
  // What encode() made, here or in another library with three digits and the same unit; the sum is
  // that of the buckets' middles. Throws std::invalid_argument.
  static Histogram decode(std::string_view text);

  // Calls visit(lowest value, highest value, count) for each bucket that holds something, in order.
  template <typename Visit>
  void for_each_bucket(const Visit& visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      visit(i == 0 ? 0 : highest_equivalent(i - 1) + 1, highest_equivalent(i), counts_[i]);
    }
  }

 private:
  // A bucket of magnitude b holds the values v with b = max(0, floor(log2 v) - 10), in
  // sub-buckets of 2^b; only the upper half of its sub-buckets is stored, except for b = 0.
  static constexpr int kSubBucketHalfBits = 10;
  static constexpr std::int64_t kSubBucketHalf = std::int64_t{1} << kSubBucketHalfBits;
  static constexpr std::int64_t kSubBucketMask = 2 * kSubBucketHalf - 1;

  static int bucket_of(std::int64_t value) noexcept {
    return 63 - kSubBucketHalfBits -
           __builtin_clzll(static_cast<unsigned long long>(value | kSubBucketMask));
  }
  static std::size_t index_of(std::int64_t value) noexcept {
    const int bucket = bucket_of(value);
    return static_cast<std::size_t>((static_cast<std::int64_t>(bucket) << kSubBucketHalfBits) +
                                    (value >> bucket));
  }
  static std::int64_t highest_equivalent(std::size_t index) noexcept;

  std::int64_t highest_trackable_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::uint64_t clamped_ = 0;
  std::uint64_t sum_ = 0;
  std::int64_t max_ = 0;
};

}  // namespace turntable::stats
