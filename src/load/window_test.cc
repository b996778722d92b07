#include "load/window.h"

#include <gtest/gtest.h>

namespace turntable::load {
namespace {

TEST(WindowTest, IsEmptyUntilItIsSet) {
  const Window window;
  EXPECT_FALSE(window.contains(0));
  EXPECT_FALSE(window.contains(1'000'000));
  EXPECT_EQ(window.overlap_ns(1'000'000, 2'000'000), 0);
}

TEST(WindowTest, HoldsItsBeginningButNotItsEnd) {
  Window window;
  window.set(100, 200);
  EXPECT_FALSE(window.contains(99));
  EXPECT_TRUE(window.contains(100));
  EXPECT_TRUE(window.contains(199));
  EXPECT_FALSE(window.contains(200));
}

TEST(WindowTest, OverlapIsThePartInside) {
  Window window;
  window.set(100, 200);
  EXPECT_EQ(window.overlap_ns(50, 100), 0);
  EXPECT_EQ(window.overlap_ns(50, 130), 30);
  EXPECT_EQ(window.overlap_ns(120, 150), 30);
  EXPECT_EQ(window.overlap_ns(190, 300), 10);
  EXPECT_EQ(window.overlap_ns(0, 1000), 100);
  EXPECT_EQ(window.overlap_ns(200, 300), 0);
}

}  // namespace
}  // namespace turntable::load
