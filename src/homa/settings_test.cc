#include "homa/settings.h"

#include <gtest/gtest.h>

#include "common/command_error.h"

namespace turntable::homa {
namespace {

Settings levels(std::uint32_t all, std::uint32_t unscheduled, std::vector<std::uint32_t> cutoffs) {
  Settings settings;
  settings.levels = all;
  settings.unscheduled_levels = unscheduled;
  settings.cutoffs = std::move(cutoffs);
  check(settings);
  return settings;
}

// 10 Gb/s for 8 us are 10,000 bytes: 6.8 packets of 1,470. 20 Mb/s for 3.7 ms are 9,250 bytes: 6.3.
TEST(HomaSettings, rtt_bytes_are_whole_packets) {
  EXPECT_EQ(rtt_bytes(10e9, 8, 1470), 10290U);
  EXPECT_EQ(rtt_bytes(20e6, 3700, 1470), 10290U);
  EXPECT_EQ(rtt_bytes(10e9, 8, 1000), 10000U);  // exactly ten
  EXPECT_EQ(rtt_bytes(10e9, 8.0001, 1000), 11000U);
}

// W3's levels of the paper's runs, 8 and 4.
TEST(HomaSettings, priorities_of_unscheduled_bytes) {
  const Settings p8 = levels(8, 4, {469, 5521, 15267});
  EXPECT_EQ(unscheduled_priority(p8, 1), 7);
  EXPECT_EQ(unscheduled_priority(p8, 468), 7);
  EXPECT_EQ(unscheduled_priority(p8, 469), 6);
  EXPECT_EQ(unscheduled_priority(p8, 5520), 6);
  EXPECT_EQ(unscheduled_priority(p8, 5521), 5);
  EXPECT_EQ(unscheduled_priority(p8, 15267), 4);
  EXPECT_EQ(highest_scheduled_priority(p8), 3);
  const Settings p4 = levels(4, 2, {469});
  EXPECT_EQ(unscheduled_priority(p4, 468), 3);
  EXPECT_EQ(unscheduled_priority(p4, 15'000'000), 2);
  EXPECT_EQ(highest_scheduled_priority(p4), 1);
}

TEST(HomaSettings, one_level_and_two) {
  const Settings p2 = levels(2, 1, {});
  EXPECT_EQ(unscheduled_priority(p2, 100), 1);
  EXPECT_EQ(highest_scheduled_priority(p2), 0);
  const Settings p1 = levels(1, 1, {});
  EXPECT_EQ(unscheduled_priority(p1, 100), 0);
  EXPECT_EQ(highest_scheduled_priority(p1), 0);
  EXPECT_EQ(highest_priority(p1), 0);
}

std::string refusal(void (*change)(Settings&)) {
  Settings settings;
  change(settings);
  try {
    check(settings);
  } catch (const CommandError& error) {
    return error.what();
  }
  return "";
}

TEST(HomaSettings, refusals_say_what_is_expected) {
  EXPECT_EQ(refusal([](Settings& s) { s.levels = 9; }),
            "levels is 9; expected 1 to 8, one for each queue of a switch's port");
  EXPECT_EQ(refusal([](Settings& s) { s.unscheduled_levels = 8; }),
            "unscheduled_levels is 8; expected 1 to 7 of 8 levels");
  EXPECT_EQ(refusal([](Settings& s) { s.cutoffs = {5}; }),
            "the number of cutoffs is 1; expected 0, one below each unscheduled level");
  EXPECT_EQ(refusal([](Settings& s) {
              s.unscheduled_levels = 3;
              s.cutoffs = {5, 5};
            }),
            "cutoff number 2 is 5; expected more than the one before");
  EXPECT_EQ(refusal([](Settings& s) { s.rtt_bytes = 10000; }),
            "rtt_bytes is 10000; expected whole packets of 1470 bytes");
  EXPECT_EQ(refusal([](Settings& s) { s.degree = 0; }), "degree is 0; expected at least 1");
}

}  // namespace
}  // namespace turntable::homa
