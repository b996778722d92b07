#include "farreach/kv/nocache_handler.h"

#include <gtest/gtest.h>

#include "farreach/kv/testing.h"
#include "farreach/kv/testing_keys.h"

namespace turntable::kv {
namespace {

using testing::kKey;
using testing::kPartition;

class NoCacheHandlerTest : public ::testing::Test {
 protected:
  NoCacheHandlerTest() {
    build_store(directory_.path() / "db", {.workload = testing::small_workload()},
                std::array{kKey});
    store_.emplace(directory_.path() / "db", StoreProfile::kEmbedded);
    handler_.emplace(*store_, kPartition, 16, [](const std::string&) {});
  }

  // Through the wire format, as a client sees it. The answer's value points into out_.
  Packet execute(PacketType type, workload::KeyId key = kKey,
                 std::span<const std::uint8_t> value = {}) {
    const Packet request{
        .type = type, .key = workload::wire_key(key), .request_id = 77, .value = value};
    Packet answer;
    Packet given;
    EXPECT_EQ(handler_->execute(request, {}, given), RequestHandler::Outcome::kAnswer);
    const std::size_t size = encode(given, out_);
    EXPECT_EQ(decode(std::span(out_).first(size), answer), DecodeStatus::kOk);
    EXPECT_EQ(answer.key, request.key);
    EXPECT_EQ(answer.request_id, 77u);
    EXPECT_EQ(answer.node, kPartition);
    return answer;
  }

  ScratchDirectory directory_;
  std::optional<Store> store_;
  std::optional<NoCacheHandler> handler_;
  std::array<std::uint8_t, kMaxPacketBytes> out_{};
};

TEST_F(NoCacheHandlerTest, GetAnswersTheLoadedValue) {
  const Packet answer = execute(PacketType::kGetRequest);
  EXPECT_EQ(answer.type, PacketType::kGetResponse);
  EXPECT_EQ(answer.stat, 1);
  EXPECT_EQ(answer.value.size(), 128u);
  EXPECT_EQ(handler_->counters().reads.get(), 1);
}

TEST_F(NoCacheHandlerTest, GetAnswersWhatPutWrote) {
  const std::uint8_t written[] = {9, 8, 7};
  EXPECT_EQ(execute(PacketType::kPutRequest, kKey, written).type, PacketType::kPutResponse);
  const Packet answer = execute(PacketType::kGetRequest);
  EXPECT_TRUE(
      std::equal(answer.value.begin(), answer.value.end(), std::begin(written), std::end(written)));
  EXPECT_EQ(handler_->counters().writes.get(), 1);
}

TEST_F(NoCacheHandlerTest, DeletedKeysAreAbsent) {
  EXPECT_EQ(execute(PacketType::kDeleteRequest).type, PacketType::kDeleteResponse);
  const Packet answer = execute(PacketType::kGetRequest);
  EXPECT_EQ(answer.type, PacketType::kGetResponse);
  EXPECT_EQ(answer.stat, 0);
  EXPECT_TRUE(answer.value.empty());
  EXPECT_EQ(handler_->counters().not_found.get(), 1);
}

TEST_F(NoCacheHandlerTest, KeysOfAnotherPartitionAreRefusedAndCounted) {
  Packet request{.type = PacketType::kGetRequest, .key = workload::wire_key(kKey)};
  EXPECT_TRUE(handler_->owns(request));
  // Key number 0 of YCSB: "user6284781860667377211".
  request.key = workload::wire_key(6284781860667377211);
  EXPECT_FALSE(handler_->owns(request));
  request.key[0] = 1;  // no key of this system
  EXPECT_FALSE(handler_->owns(request));
  EXPECT_EQ(handler_->counters().misrouted.get(), 2);
}

}  // namespace
}  // namespace turntable::kv
