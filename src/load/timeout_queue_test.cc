#include "load/timeout_queue.h"

#include <gtest/gtest.h>

namespace turntable::load {
namespace {

std::vector<std::uint32_t> drain(TimeoutQueue& queue) {
  std::vector<std::uint32_t> order;
  while (queue.oldest() != TimeoutQueue::kNone) {
    order.push_back(queue.oldest());
    queue.remove(queue.oldest());
  }
  return order;
}

using Order = std::vector<std::uint32_t>;

TEST(TimeoutQueueTest, KeepsTheOrderOfSending) {
  TimeoutQueue queue(4);
  for (const auto index : Order{2, 0, 3, 1}) queue.push(index);
  EXPECT_EQ(drain(queue), (Order{2, 0, 3, 1}));
  EXPECT_EQ(queue.oldest(), TimeoutQueue::kNone);
}

TEST(TimeoutQueueTest, RemovesFromEveryPosition) {
  for (const std::uint32_t removed : {0U, 1U, 2U}) {
    TimeoutQueue queue(3);
    for (const std::uint32_t index : {0U, 1U, 2U}) queue.push(index);
    queue.remove(removed);
    queue.push(removed);  // an answer came and the next request was sent
    Order expected;
    for (const std::uint32_t index : {0U, 1U, 2U}) {
      if (index != removed) expected.push_back(index);
    }
    expected.push_back(removed);
    EXPECT_EQ(drain(queue), expected);
  }
}

}  // namespace
}  // namespace turntable::load
