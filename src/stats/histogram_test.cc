#include "stats/histogram.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "common/base64.h"
#include "stats/record_queue.h"

namespace turntable::stats {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;  // ns

TEST(HistogramTest, EmptyHistogramAnswersZero) {
  Histogram histogram(kMinute);
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.value_at_percentile(99), 0);
}

TEST(HistogramTest, ValuesBelowTwoThousandFortyEightAreExact) {
  Histogram histogram(kMinute);
  for (std::int64_t value = 1; value <= 2000; ++value) histogram.record(value);
  // Of 1..2000, p % lie at or below 20 p.
  EXPECT_EQ(histogram.value_at_percentile(50), 1000);
  EXPECT_EQ(histogram.value_at_percentile(99.9), 1998);
  EXPECT_EQ(histogram.value_at_percentile(100), 2000);
  EXPECT_EQ(histogram.sum(), 2000u * 2001u / 2);
}

// The documented example of HdrHistogram: above 2,047 the resolution doubles with the magnitude.
// 2,048..4,095 by 2, 4,096..8,191 by 4; 100,000 lies in 65,536..131,071, by 64.
TEST(HistogramTest, BucketWidthDoublesWithTheMagnitude) {
  const struct {
    std::int64_t value, highest_equivalent;
  } cases[] = {{2047, 2047}, {2048, 2049}, {2049, 2049},       {4095, 4095},
               {4096, 4099}, {8191, 8191}, {100'000, 100'031}, {1, 1}};
  for (const auto& c : cases) {
    Histogram histogram(kMinute);
    histogram.record(c.value);
    EXPECT_EQ(histogram.value_at_percentile(50), c.highest_equivalent) << c.value;
    EXPECT_EQ(histogram.max(), c.value);
  }
}

TEST(HistogramTest, RelativeErrorStaysBelowThreeDigits) {
  for (std::int64_t value = 3; value <= kMinute; value = value * 5 / 4 + 1) {
    Histogram histogram(kMinute);
    histogram.record(value);
    const std::int64_t reported = histogram.value_at_percentile(100);
    EXPECT_GE(reported, value);
    EXPECT_LE(static_cast<double>(reported - value), static_cast<double>(value) * 0.001) << value;
  }
}

TEST(HistogramTest, ValuesOutOfRangeAreClampedAndCounted) {
  Histogram histogram(kMinute);
  histogram.record(-5);
  histogram.record(kMinute + 1);
  histogram.record(kMinute);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.clamped(), 2u);
  EXPECT_EQ(histogram.max(), kMinute);
  EXPECT_EQ(histogram.value_at_percentile(1), 0);
}

TEST(HistogramTest, MergeEqualsRecordingEverythingInOne) {
  Histogram all(kMinute), first(kMinute), second(kMinute);
  for (std::int64_t i = 1; i < 5000; ++i) {
    const std::int64_t value = i * i * 7;
    all.record(value);
    (i % 3 == 0 ? first : second).record(value);
  }
  first.merge(second);
  EXPECT_EQ(first.encode(), all.encode());
  EXPECT_EQ(first.count(), all.count());
  EXPECT_EQ(first.sum(), all.sum());
  EXPECT_EQ(first.max(), all.max());
}

TEST(HistogramTest, MergeRefusesAnotherRange) {
  Histogram histogram(kMinute);
  EXPECT_THROW(histogram.merge(Histogram(2 * kMinute)), std::invalid_argument);
}

TEST(HistogramTest, ClearForgetsEverything) {
  Histogram histogram(kMinute);
  histogram.record(123);
  histogram.clear();
  EXPECT_EQ(histogram.encode(), Histogram(kMinute).encode());
  EXPECT_EQ(histogram.count(), 0u);
}

// RFC 4648 §10.
TEST(Base64Test, TestVectorsOfTheRfc) {
  const struct {
    std::string_view plain, encoded;
  } vectors[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"}};
  for (const auto& v : vectors) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(v.plain.data());
    EXPECT_EQ(base64_encode({bytes, v.plain.size()}), v.encoded);
  }
}

TEST(Histogram, DecodesWhatItEncodes) {
  Histogram histogram(60'000'000'000);
  for (std::int64_t value = 1; value < 50'000'000'000; value = value * 3 / 2 + 1)
    for (std::int64_t times = value % 7; times >= 0; --times) histogram.record(value);
  histogram.record(0);
  const Histogram decoded = Histogram::decode(histogram.encode());
  EXPECT_EQ(decoded.encode(), histogram.encode());
  EXPECT_EQ(decoded.count(), histogram.count());
  EXPECT_EQ(decoded.value_at_percentile(99), histogram.value_at_percentile(99));
  EXPECT_NEAR(static_cast<double>(decoded.sum()), static_cast<double>(histogram.sum()),
              static_cast<double>(histogram.sum()) / 1000);
  EXPECT_EQ(Histogram::decode(Histogram(1000).encode()).count(), 0U);
}

TEST(Histogram, RefusesToDecodeWhatIsNone) {
  Histogram histogram(1000);
  histogram.record(5);
  const std::string text = histogram.encode();
  for (std::size_t bytes = 0; bytes < text.size() - 4; ++bytes)
    EXPECT_THROW(Histogram::decode(text.substr(0, bytes)), std::invalid_argument) << bytes;
  EXPECT_THROW(Histogram::decode("no histogram!"), std::invalid_argument);
  EXPECT_THROW(Histogram::decode("A" + text), std::invalid_argument);
}

TEST(Histogram, BucketsHoldTheirValues) {
  Histogram histogram(1'000'000);
  histogram.record(7);
  histogram.record(100'000);
  std::vector<std::int64_t> seen;
  histogram.for_each_bucket([&](std::int64_t low, std::int64_t high, std::uint64_t count) {
    seen.insert(seen.end(), {low, high, static_cast<std::int64_t>(count)});
  });
  EXPECT_EQ(seen, (std::vector<std::int64_t>{7, 7, 1, 99'968, 100'031, 1}));
}

// Two blocks and a rest, to two histograms in turn.
TEST(RecordQueue, CountsEachValueWhereItBelongs) {
  Histogram even(1'000'000), odd(1'000'000);
  RecordQueue queue;
  constexpr auto kValues = static_cast<std::int64_t>(2 * RecordQueue::kBlock + 10);
  for (std::int64_t value = 0; value < kValues; ++value)
    queue.record(value % 2 == 0 ? even : odd, value);
  EXPECT_EQ(even.count() + odd.count(), 2 * RecordQueue::kBlock);
  queue.flush();
  queue.flush();
  EXPECT_EQ(even.count(), static_cast<std::uint64_t>(kValues / 2));
  EXPECT_EQ(odd.count(), static_cast<std::uint64_t>(kValues / 2));
  EXPECT_EQ(even.max(), kValues - 2);
  EXPECT_EQ(odd.max(), kValues - 1);
  // 0 + 2 + 4 + ... and 1 + 3 + 5 + ...
  EXPECT_EQ(even.sum(), static_cast<std::uint64_t>(kValues / 2 * (kValues / 2 - 1)));
  EXPECT_EQ(odd.sum(), static_cast<std::uint64_t>(kValues / 2 * (kValues / 2)));
}

}  // namespace
}  // namespace turntable::stats
