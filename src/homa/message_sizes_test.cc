// Values are those of the published tables, and sums over the files' lines done with another
// program; experiments/homa/sizes says where the files are from.
#include "homa/message_sizes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/command_error.h"
#include "common/scratch_directory.h"
#include "homa/priority_allocation.h"

namespace turntable::homa {
namespace {

MessageSizes workload(const std::string& name) {
  return MessageSizes::read(TURNTABLE_SIZES "/" + name + ".txt");
}

struct Published {
  const char* name;
  double mean;
  std::uint32_t p10, p50, p90, p99, most;
  double unscheduled;  // share at 9.8 KB
};

// A percentile is the smallest size that so many messages do not exceed.
TEST(MessageSizes, ATextIsReadAsAFileIs) {
  const MessageSizes sizes = MessageSizes::parse("15\n10 0.5\n20 1\n", "sizes");
  ASSERT_EQ(sizes.points().size(), 2);
  EXPECT_EQ(sizes.mean(), 15);
  try {
    MessageSizes::parse("15\n10 0.5\n", "the sizes of a cell");
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("the sizes of a cell, line 2"), std::string::npos);
  }
}

TEST(HomaSizes, workloads_are_the_published_ones) {
  const Published all[] = {
      {"W1", 187.5, 2, 27, 503, 1876, 100'000, .995},
      {"W2", 440.8, 3, 269, 512, 3151, 3'529'904, .77},
      {"W3", 2927, 36, 268, 1755, 31'000, 15'158'197, .30},
      {"W4", 127'800, 315, 662, 120'000, 3'400'000, 10'000'000, .027},
      {"W5", 2'565'000, 5900, 72'000, 4'900'000, 27'400'000, 29'400'000, .004}};
  for (const Published& row : all) {
    const MessageSizes sizes = workload(row.name);
    EXPECT_NEAR(sizes.mean(), row.mean, .001 * row.mean) << row.name;
    EXPECT_NEAR(sizes.at(.10 - 1e-9), row.p10, .02 * row.p10 + .5) << row.name;
    EXPECT_NEAR(sizes.at(.50 - 1e-9), row.p50, .02 * row.p50 + .5) << row.name;
    EXPECT_NEAR(sizes.at(.90 - 1e-9), row.p90, .03 * row.p90 + .5) << row.name;
    EXPECT_NEAR(sizes.at(.99 - 1e-9), row.p99, .03 * row.p99 + .5) << row.name;
    EXPECT_EQ(sizes.at(.9999999999), row.most) << row.name;
    EXPECT_NEAR(sizes.unscheduled_share(9800), row.unscheduled, .006) << row.name;
  }
}

// min(size, 1 MB) has a mean of 2,422.79 bytes; without the larger ones it would be 2,168.67.
TEST(HomaSizes, cap_and_divisor) {
  const MessageSizes capped = workload("W3").capped(1'000'000);
  EXPECT_NEAR(capped.mean(), 2422.786, .001);
  EXPECT_EQ(capped.points().back().bytes, 1'000'000U);
  EXPECT_EQ(capped.points().back().cumulative, 1);
  EXPECT_NEAR(capped.unscheduled_share(10290), .36, .005);
  EXPECT_NEAR(workload("W4").divided(10).mean(), 12779.727, .001);  // halves up
  EXPECT_NEAR(workload("W5").divided(100).mean(), 25647.219, .001);
  EXPECT_EQ(workload("W5").divided(100).points().back().bytes, 294'000U);
  EXPECT_EQ(workload("W1").divided(1000).points().front().bytes, 1U);
}

TEST(HomaSizes, fixed) {
  const MessageSizes sizes = MessageSizes::fixed(100);
  EXPECT_EQ(sizes.at(0), 100U);
  EXPECT_EQ(sizes.at(.999), 100U);
  EXPECT_EQ(sizes.mean(), 100);
  EXPECT_EQ(sizes.unscheduled_share(10290), 1);
}

// Shares drawn uniformly give the points' probabilities: 10, 30 and 60 % of sizes 5, 7 and 1,000.
TEST(HomaSizes, a_share_is_a_percentile_of_messages) {
  const ScratchDirectory directory;
  const std::string path = directory.path() / "sizes";
  std::ofstream(path) << "602.6\n5 .1\n7 .4\n1000 1\n";
  const MessageSizes sizes = MessageSizes::read(path);
  EXPECT_EQ(sizes.at(0), 5U);
  EXPECT_EQ(sizes.at(.0999), 5U);
  EXPECT_EQ(sizes.at(.1), 7U);
  EXPECT_EQ(sizes.at(.3999), 7U);
  EXPECT_EQ(sizes.at(.4), 1000U);
}

std::string refusal(const std::string& content) {
  const ScratchDirectory directory;
  const std::string path = directory.path() / "sizes";
  std::ofstream(path) << content;
  try {
    MessageSizes::read(path, 1'000'000);
  } catch (const CommandError& error) {
    return std::string(error.what()).substr(path.size());
  }
  return "";
}

TEST(HomaSizes, tables_that_are_none) {
  EXPECT_EQ(refusal(""), ", line 0: no sizes; expected the mean and one at least");
  EXPECT_EQ(refusal("mean\n"), ", line 1: \"mean\"; expected the mean size in bytes");
  EXPECT_EQ(refusal("5\n5 x\n"), ", line 2: \"5 x\"; expected a size in bytes and a probability");
  EXPECT_EQ(refusal("5\n0 1\n"), ", line 2: a message of 0 bytes; expected 1 to 1000000");
  EXPECT_EQ(refusal("5\n2e6 1\n"), ", line 2: a message of 2e+06 bytes; expected 1 to 1000000");
  EXPECT_EQ(refusal("5\n5 .5\n4 1\n"), ", line 3: 4 bytes; expected no less than the line before");
  EXPECT_EQ(refusal("5\n5 .5\n6 .4\n"),
            ", line 3: probability 0.4; expected one that does not fall, up to 1");
  EXPECT_EQ(refusal("5\n5 .5\n"), ", line 2: the last probability is 0.5; expected 1");
  EXPECT_EQ(refusal("9\n5 1\n"),
            ", line 1: the mean is said to be 9 bytes; that of the sizes is 5");
  EXPECT_EQ(refusal("5\n5 1\n"), "");
  EXPECT_EQ(refusal("5\n5 .5\n5 1\n"), "");
}

// Model of the reference: W3 with messages of at most 1 MB, RTTbytes of 10,290.
TEST(HomaPriorities, cutoffs_carry_equally_many_bytes) {
  const MessageSizes sizes = workload("W3").capped(1'000'000);
  const PriorityAllocation eight = allocate_priorities(sizes, 10290, 8);
  EXPECT_EQ(eight.unscheduled_levels, 3U);  // 8 x .36
  const PriorityAllocation four = allocate_priorities(sizes, 10290, 4);
  EXPECT_EQ(four.unscheduled_levels, 1U);
  EXPECT_EQ(equal_byte_cutoffs(sizes, 10290, 2), (std::vector<std::uint32_t>{5906}));
  EXPECT_EQ(equal_byte_cutoffs(sizes, 10290, 4), (std::vector<std::uint32_t>{1117, 5906, 12674}));
  EXPECT_EQ(allocate_priorities(sizes, 10290, 2).unscheduled_levels, 1U);
  EXPECT_EQ(allocate_priorities(sizes, 10290, 1).unscheduled_levels, 1U);
}

// Shares of unscheduled bytes .995, .77, .30, .027, .004 of eight levels, at least 1, at most 7.
TEST(HomaPriorities, levels_of_the_workloads) {
  const std::pair<const char*, std::uint32_t> expected[] = {
      {"W1", 7}, {"W2", 6}, {"W3", 2}, {"W4", 1}, {"W5", 1}};
  for (const auto& [name, levels] : expected)
    EXPECT_EQ(allocate_priorities(workload(name), 9800, 8).unscheduled_levels, levels) << name;
}

TEST(HomaPriorities, settings_of_the_paper) {
  EXPECT_EQ(paper_settings("W3", 8).priorities.cutoffs,
            (std::vector<std::uint32_t>{469, 5521, 15267}));
  EXPECT_EQ(paper_settings("W3", 8).priorities.unscheduled_levels, 4U);
  EXPECT_EQ(paper_settings("W3", 8).degree, 4U);
  EXPECT_EQ(paper_settings("W1", 8).priorities.unscheduled_levels, 7U);
  EXPECT_EQ(paper_settings("W1", 4).priorities.unscheduled_levels, 3U);
  EXPECT_EQ(paper_settings("W5", 1).priorities.unscheduled_levels, 1U);
  EXPECT_THROW(paper_settings("W9", 8), CommandError);
  EXPECT_THROW(paper_settings("W3", 3), CommandError);
}

}  // namespace
}  // namespace turntable::homa
