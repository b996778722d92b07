#include "bfrt_server/outbox.h"

#include <gtest/gtest.h>

#include "bfrt/bfruntime.pb.h"

namespace turntable::bfrt_server {
namespace {

using Message = bfrt_proto::StreamMessageResponse;

Message digest(std::uint32_t list) {
  Message message;
  message.mutable_digest()->set_list_id(list);
  return message;
}

TEST(Outbox, gives_messages_in_their_order) {
  Outbox<Message> outbox;
  EXPECT_EQ(outbox.front(), nullptr);
  outbox.put(digest(1));
  outbox.put(digest(2));
  EXPECT_EQ(outbox.front()->digest().list_id(), 1U);
  outbox.pop();
  EXPECT_EQ(outbox.front()->digest().list_id(), 2U);
  outbox.pop();
  EXPECT_EQ(outbox.front(), nullptr);
}

TEST(Outbox, that_nobody_empties_loses_and_counts) {
  Outbox<Message> outbox;
  for (std::uint32_t i = 0; i < kOutboxMessages; ++i) ASSERT_TRUE(outbox.put(digest(i)));
  EXPECT_FALSE(outbox.put(digest(0)));
  EXPECT_FALSE(outbox.put(digest(0)));
  EXPECT_EQ(outbox.lost(), 2U);
  outbox.pop();
  EXPECT_TRUE(outbox.put(digest(9)));
}

TEST(Outbox, that_nobody_empties_holds_few_long_messages) {
  const auto of_bytes = [](std::size_t size) {
    Message message;
    message.mutable_digest()->add_data()->add_fields()->set_stream(std::string(size, 'x'));
    return message;
  };
  Outbox<Message> outbox;
  EXPECT_TRUE(outbox.put(of_bytes(2 * kOutboxBytes)));  // the only one may be as long as it is
  EXPECT_FALSE(outbox.put(digest(1)));
  outbox.pop();
  EXPECT_TRUE(outbox.put(of_bytes(kOutboxBytes / 3)));
  EXPECT_TRUE(outbox.put(of_bytes(kOutboxBytes / 3)));
  EXPECT_FALSE(outbox.put(of_bytes(kOutboxBytes / 2)));
  outbox.pop();
  EXPECT_TRUE(outbox.put(of_bytes(kOutboxBytes / 2)));
}

TEST(Outbox, keeps_the_front_in_its_place_while_others_come) {
  Outbox<Message> outbox;
  outbox.put(digest(1));
  const Message* const front = outbox.front();
  for (std::uint32_t i = 1; i < kOutboxMessages; ++i) outbox.put(digest(i));
  EXPECT_EQ(outbox.front(), front);  // it is being sent
}

}  // namespace
}  // namespace turntable::bfrt_server
