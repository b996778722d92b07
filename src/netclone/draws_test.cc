#include "netclone/draws.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "netclone/packet.h"

namespace turntable::netclone {
namespace {

struct Example {
  std::uint64_t seed;
  std::uint32_t stream;
  std::uint64_t request;
  std::uint32_t copy;
  std::uint64_t bits;
  double uniform;
};

// Computed by this Python script, written from the definition of splitmix64:
//
//   M = 2**64 - 1
//   def step(x):
//       z = (x + 0x9E3779B97F4A7C15) & M
//       z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M
//       z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M
//       return z ^ z >> 31
//   def bits(seed, stream, request, copy):
//       return step(step(step(seed) ^ (stream << 32 | copy)) ^ request)
//   for a in [(1,0,0,0), (1,6,0,0), (1,6,0,1), (1,7,0,0), (2,6,0,0), (42,10,3<<48|99999,1),
//             (2**64-1,3,65535<<48|(2**48-1),0)]:
//       print(*a, hex(bits(*a)), repr((bits(*a) >> 11) * 2**-53))
constexpr std::array<Example, 7> kExamples = {{
    {1, 0, 0, 0, 0xb18a02f46d8d86c3, 0.6935121390102292},
    {1, 6, 0, 0, 0xbc824403c4992a27, 0.7363626965712667},
    {1, 6, 0, 1, 0xba1b11797a288827, 0.7269755288672589},
    {1, 7, 0, 0, 0x00ce8e279f91c0b3, 0.0031517836319556736},
    {2, 6, 0, 0, 0x9f4819c7605795fb, 0.62219391934954},
    {42, 10, 0x300000001869f, 1, 0x04202c71fd39348f, 0.01611593039453818},
    {18446744073709551615U, 3, 0xffffffffffffffff, 0, 0x6f5013972e04e19b, 0.434815620812532},
}};

// Chi-square of counts that are expected to be equal.
double chi_square(const std::vector<int>& counts, int draws) {
  const double expected = static_cast<double>(draws) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// 99.9 % of chi-square with 99 degrees of freedom (tables: 148.23) and its 0.1 % (60.66). Seeds are
// fixed, so a test fails always or never.
constexpr double kHighest = 148.23;
constexpr double kLowest = 60.66;

constexpr int kDraws = 1'000'000;

void expect_uniform(const std::vector<int>& counts, const std::string& what) {
  ASSERT_EQ(counts.size(), 100U);
  const double found = chi_square(counts, kDraws);
  EXPECT_LT(found, kHighest) << what;
  EXPECT_GT(found, kLowest) << what << ": more even than chance";
}

std::size_t cell(double u, int cells) {
  return static_cast<std::size_t>(u * cells);
}

TEST(Draws, AreTheNumbersOfThePythonScript) {
  for (const auto& [seed, stream, request, copy, bits, number] : kExamples) {
    EXPECT_EQ(random_bits(seed, Stream{stream}, request, copy), bits);
    EXPECT_EQ(uniform(seed, Stream{stream}, request, copy), number);
  }
}

TEST(Draws, AreUniformInEveryStream) {
  for (std::uint32_t stream = 0; stream <= 10; ++stream) {
    std::vector<int> counts(100);
    for (int i = 0; i < kDraws; ++i) {
      const auto request = request_id(static_cast<std::uint16_t>(i % 8), i / 8);
      ++counts[cell(uniform(5, Stream{stream}, request), 100)];
    }
    expect_uniform(counts, "stream " + std::to_string(stream));
  }
}

// Pairs of draws that an experiment uses together fill a 10 x 10 table evenly.
template <typename Second>
void expect_independent(const std::string& what, const Second& second) {
  std::vector<int> counts(100);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t request = request_id(3, i);
    const double u = uniform(9, Stream::kService, request);
    ++counts[10 * cell(u, 10) + cell(second(request), 10)];
  }
  expect_uniform(counts, what);
}

TEST(Draws, OfAServiceTimeDependOnNoOther) {
  expect_independent("the clone's", [](std::uint64_t request) {
    return uniform(9, Stream::kService, request, 1);
  });
  expect_independent("the next request's", [](std::uint64_t request) {
    return uniform(9, Stream::kService, request + 1);
  });
  expect_independent("another client's", [](std::uint64_t request) {
    return uniform(9, Stream::kService, request_id(4, number_of(request)));
  });
  expect_independent("its jitter",
                     [](std::uint64_t request) { return uniform(9, Stream::kJitter, request); });
  expect_independent("its group",
                     [](std::uint64_t request) { return uniform(9, Stream::kGroup, request); });
  expect_independent("the same of another seed",
                     [](std::uint64_t request) { return uniform(10, Stream::kService, request); });
}

TEST(IndexOf, StaysBelowTheCount) {
  EXPECT_EQ(index_of(0, 7), 0U);
  EXPECT_EQ(index_of(1 - 0x1.0p-53, 7), 6U);
  EXPECT_EQ(index_of(1 - 0x1.0p-53, 240), 239U);
  EXPECT_EQ(index_of(0.5, 4), 2U);
}

}  // namespace
}  // namespace turntable::netclone
