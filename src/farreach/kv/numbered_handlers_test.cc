// The servers of FarReach and NetCache, request by request.
#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "farreach/kv/farreach_handler.h"
#include "farreach/kv/netcache_handler.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/testing_keys.h"
#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {

using testing::kKey;
using testing::kPartition;

using Bytes = std::vector<std::uint8_t>;
using Outcome = RequestHandler::Outcome;

class NumberedHandlersTest : public ::testing::Test {
 protected:
  NumberedHandlersTest() {
    build_store(directory_.path() / "db", {.workload = testing::small_workload(), .numbered = true},
                std::array{kKey});
    store_.emplace(directory_.path() / "db", StoreProfile::kEmbedded);
    records_.emplace(*store_);
  }

  static Packet request(std::uint16_t type, std::uint32_t number = 0, const Bytes& value = {}) {
    return {.type = PacketType{type},
            .key = workload::wire_key(kKey),
            .request_id = 77,
            .value = value,
            .sequence = number,
            .stat = value.empty() ? kStatAbsent : kStatSuccess};
  }

  static Packet execute(RequestHandler& handler, const Packet& request) {
    EXPECT_TRUE(handler.accepts(request.type));
    Packet answer;
    EXPECT_EQ(handler.execute(request, {}, answer), Outcome::kAnswer);
    EXPECT_EQ(answer.key, request.key);
    EXPECT_EQ(answer.request_id, 77u);
    EXPECT_EQ(answer.node, kPartition);
    return answer;
  }

  static Bytes value_of(const Packet& packet) { return {packet.value.begin(), packet.value.end()}; }

  ScratchDirectory directory_;
  std::optional<Store> store_;
  std::optional<RecordStore> records_;
};

class FarReachHandlerTest : public NumberedHandlersTest {
 protected:
  Packet execute(std::uint16_t type, std::uint32_t number = 0, const Bytes& value = {}) {
    value_ = value;
    Packet packet = request(type, number);
    packet.value = value_;
    packet.stat = value.empty() ? kStatAbsent : kStatSuccess;
    return NumberedHandlersTest::execute(handler_, packet);
  }

  Bytes value_;
  CachedKeys keys_{{}};
  FarReachHandler handler_{*records_, keys_, kPartition, 16, [](const std::string&) {}};
};

TEST_F(FarReachHandlerTest, GetAnswersValueAndNumber) {
  EXPECT_EQ(execute(0x0030).sequence, 0u);
  EXPECT_EQ(execute(0x0003, 5, {1, 2}).type, PacketType::kPutResponseSeq);
  const Packet answer = execute(0x0030);
  EXPECT_EQ(answer.type, PacketType::kGetResponseSeq);
  EXPECT_EQ(value_of(answer), (Bytes{1, 2}));
  EXPECT_EQ(answer.sequence, 5u);
  EXPECT_EQ(answer.stat, kStatSuccess);
}

TEST_F(FarReachHandlerTest, EveryFormOfAWriteIsApplied) {
  std::uint32_t number = 0;
  // PUTREQ_SEQ, POP, CASE3, POP CASE3, BEINGEVICTED, CASE3 BEINGEVICTED; the same of large values.
  for (const std::uint16_t put :
       std::initializer_list<std::uint16_t>{0x0003, 0x0013, 0x0023, 0x0033, 0x0053, 0x0063,  //
                                            0x0032, 0x0052, 0x0082, 0x0092}) {
    const auto written = static_cast<std::uint8_t>(++number);
    const Packet answer = execute(put, number, {written});
    EXPECT_EQ(answer.type, PacketType::kPutResponseSeq) << put;
    EXPECT_EQ(answer.sequence, number);
    EXPECT_EQ(value_of(execute(0x0030)), Bytes{written});
  }
  for (const std::uint16_t del :
       std::initializer_list<std::uint16_t>{0x0002, 0x0012, 0x0062, 0x0072}) {
    execute(0x0003, ++number, {1});
    const Packet answer = execute(del, ++number);
    EXPECT_EQ(answer.type, PacketType::kDeleteResponseSeq) << del;
    EXPECT_EQ(answer.sequence, number);
    EXPECT_EQ(execute(0x0030).stat, kStatAbsent);
  }
  EXPECT_EQ(handler_.counters().writes.get(), 14);
  EXPECT_EQ(handler_.counters().deletes.get(), 4);
}

TEST_F(FarReachHandlerTest, ALateWriteIsAcknowledgedAndHasNoEffect) {
  execute(0x0003, 9, {9});
  EXPECT_EQ(execute(0x0003, 8, {8}).sequence, 8u);
  EXPECT_EQ(execute(0x0002, 7).sequence, 7u);
  EXPECT_EQ(value_of(execute(0x0030)), Bytes{9});
  EXPECT_EQ(handler_.method_statistics().at("outdated"), 2);
}

TEST_F(FarReachHandlerTest, AWriteThatASwitchNumberedWhichIsGoneHasNoAnswer) {
  execute(0x0003, 9, {9});
  ASSERT_EQ(records_->fence(20), Store::Result::kOk);
  Packet answer;
  EXPECT_EQ(handler_.execute(request(0x0003, 20), {}, answer), Outcome::kNoAnswer);
  EXPECT_EQ(value_of(execute(0x0030)), Bytes{9});
  EXPECT_EQ(execute(0x0003, 21, {21}).sequence, 21u);
  EXPECT_EQ(handler_.method_statistics().at("fenced"), 1);
}

TEST_F(FarReachHandlerTest, AGetThatMayFillSaysWhetherThereIsAValue) {
  execute(0x0003, 5, {1});
  EXPECT_EQ(execute(0x00a2).type, PacketType::kGetResponseLatestSeq);
  EXPECT_EQ(execute(0x00a2).sequence, 5u);
  execute(0x0002, 6);
  const Packet deleted = execute(0x00a2);
  EXPECT_EQ(deleted.type, PacketType::kGetResponseDeletedSeq);
  EXPECT_EQ(deleted.sequence, 6u);
  EXPECT_EQ(deleted.stat, kStatAbsent);
  execute(0x0032, 7, Bytes(129, 1));
  const Packet large = execute(0x00a2);  // fills nothing
  EXPECT_EQ(large.type, PacketType::kLargeGetResponseSeq);
  EXPECT_EQ(large.value.size(), 129u);
  EXPECT_EQ(large.sequence, 7u);
}

TEST_F(FarReachHandlerTest, AGetFillsNothingWhileANewerLargeWriteIsIncomplete) {
  Reassembly large_values(2);
  handler_.set_large_values(large_values);
  Packet first = request(0x0032, /*number=*/7);
  first.fragment = {.client = 1, .transmission = 1, .index = 0, .count = 2, .value_length = 2000};
  ASSERT_FALSE(large_values.add(1, first));
  execute(0x0003, 6, {1});
  Packet get = request(0x00a2);
  get.snapshot_token = 0x80000123;
  const Packet answer = NumberedHandlersTest::execute(handler_, get);
  EXPECT_EQ(answer.type, PacketType::kGetResponseSeq);
  EXPECT_EQ(answer.sequence, 6u);
  EXPECT_EQ(answer.snapshot_token, 0u);
  EXPECT_EQ(handler_.method_statistics().at("withheld_fills"), 1);
  execute(0x0002, 8);  // overtakes it
  EXPECT_EQ(execute(0x00a2).type, PacketType::kGetResponseDeletedSeq);
}

TEST_F(FarReachHandlerTest, ALargeWriteOfASwitchThatIsGoneKeepsNoFillAway) {
  Reassembly large_values(2);
  handler_.set_large_values(large_values);
  Packet first = request(0x0032, /*number=*/7);
  first.fragment = {.client = 1, .transmission = 1, .index = 0, .count = 2, .value_length = 2000};
  ASSERT_FALSE(large_values.add(1, first));
  EXPECT_EQ(execute(0x00a2).type, PacketType::kGetResponseSeq);
  ASSERT_EQ(records_->fence(7), Store::Result::kOk);
  EXPECT_EQ(execute(0x00a2).type, PacketType::kGetResponseLatestSeq);
}

TEST_F(FarReachHandlerTest, TheTokenOfAGetThatMayFillComesBack) {
  Packet packet = request(0x00a2);
  packet.snapshot_token = 0x80000123;
  EXPECT_EQ(NumberedHandlersTest::execute(handler_, packet).snapshot_token, 0x80000123u);
  Bytes bytes;
  Record record;
  EXPECT_EQ(records_->fetch_at(0x80000123, workload::store_key(kKey), bytes, record),
            Store::Result::kNotFound);  // it is no snapshot's
  // Clients see none.
  packet.type = PacketType::kGetRequest;
  EXPECT_EQ(NumberedHandlersTest::execute(handler_, packet).snapshot_token, 0u);
}

TEST_F(FarReachHandlerTest, ASlotWithoutARecordAddsNothing) {
  Packet packet = request(0x007b, /*number=*/0, {});
  packet.key = workload::wire_key(kKey + 1);  // not in the store either
  packet.stat = kStatSuccess;
  Packet answer;
  ASSERT_EQ(handler_.execute(packet, {}, answer), Outcome::kAnswer);
  EXPECT_EQ(answer.stat, kStatAbsent);
}

TEST_F(FarReachHandlerTest, OfTheSlotsRecordAndTheStoredOneTheNewerAnswers) {
  execute(0x0003, 5, {5});
  for (const std::uint16_t type : std::initializer_list<std::uint16_t>{0x007b, 0x008b}) {
    const Packet stored = execute(type, 4, {4});
    EXPECT_EQ(stored.sequence, 5u);
    EXPECT_EQ(value_of(stored), Bytes{5});
    EXPECT_EQ(execute(0x0030).sequence, 5u);
  }
  // What was read is stored: the switch may be gone before its slot is written back.
  std::uint8_t number = 5;
  for (const std::uint16_t type : std::initializer_list<std::uint16_t>{0x007b, 0x008b}) {
    ++number;
    const Packet slots = execute(type, number, {number});
    EXPECT_EQ(slots.type, PacketType::kGetResponseSeq);
    EXPECT_EQ(slots.sequence, number);
    EXPECT_EQ(value_of(slots), Bytes{number});
    EXPECT_EQ(value_of(execute(0x0030)), Bytes{number});
    ++number;
    const Packet deleted = execute(type, number);  // the slot's record is a tombstone
    EXPECT_EQ(deleted.sequence, number);
    EXPECT_EQ(deleted.stat, kStatAbsent);
    EXPECT_EQ(execute(0x0030).sequence, number);
    EXPECT_EQ(execute(0x0030).stat, kStatAbsent);
  }
  EXPECT_EQ(handler_.method_statistics().at("kept_reads"), 4);
}

TEST_F(FarReachHandlerTest, ARecordThatWasReadBehindASnapshotsPointIsNotInItsCut) {
  execute(0x0003, 5, {5});
  value_ = {6};
  Packet read = request(0x008b, 6, value_);
  read.snapshot_token = 40;
  EXPECT_EQ(NumberedHandlersTest::execute(handler_, read).sequence, 6u);
  Bytes bytes;
  Record record;
  EXPECT_EQ(records_->fetch_at(40, workload::store_key(kKey), bytes, record), Store::Result::kOk);
  EXPECT_EQ(record.number, 5u);
  EXPECT_EQ(execute(0x0030).sequence, 6u);
}

// Its record was in slots that are gone: the switch that was recovered serves an older one.
TEST_F(FarReachHandlerTest, AGetOfASwitchThatIsGoneIsNotAnsweredWithWhatOnlyThatSwitchHad) {
  execute(0x0003, 9, {9});
  ASSERT_EQ(records_->fence(20), Store::Result::kOk);
  for (const std::uint16_t type : std::initializer_list<std::uint16_t>{0x007b, 0x008b}) {
    for (const std::uint8_t number : std::initializer_list<std::uint8_t>{10, 20}) {
      const Packet answer = execute(type, number, {number});
      EXPECT_EQ(answer.sequence, 9u);
      EXPECT_EQ(value_of(answer), Bytes{9});
    }
    EXPECT_EQ(execute(0x0030).sequence, 9u);
  }
  EXPECT_EQ(handler_.method_statistics().at("kept_reads"), 0);
}

// A slot that was restored has its server's own record, whose number is one of before.
TEST_F(FarReachHandlerTest, AGetWithARestoredRecordIsAnswered) {
  execute(0x0003, 9, {9});
  ASSERT_EQ(records_->fence(20), Store::Result::kOk);
  EXPECT_EQ(execute(0x008b, 9, {9}).sequence, 9u);  // the large PUT has been lost
  EXPECT_EQ(execute(0x0032, 21, Bytes(129, 1)).sequence, 21u);
  EXPECT_EQ(execute(0x008b, 9, {9}).sequence, 21u);    // it has come
  EXPECT_EQ(execute(0x007b, 22, {22}).sequence, 22u);  // written to the slot since
  EXPECT_EQ(execute(0x0030).sequence, 22u);
  EXPECT_EQ(handler_.method_statistics().at("fenced"), 0);
}

TEST_F(FarReachHandlerTest, HotKeysAreReportedOnceUntilTheyAreSettled) {
  const std::vector<workload::KeyId> reported = {kKey}, none;
  execute(0x0050);
  execute(0x0013, 1, {1});
  EXPECT_EQ(keys_.take_reports(10), reported);
  execute(0x0050);
  EXPECT_EQ(keys_.take_reports(10), none);  // asked, not answered
  keys_.settle(kKey, {});
  execute(0x0050);
  EXPECT_EQ(keys_.take_reports(10), reported);  // refused: may be asked again
  keys_.settle(kKey, {.id = 7});
  execute(0x0050);
  EXPECT_EQ(keys_.take_reports(10), none);
  keys_.evicted(kKey, 7);
  execute(0x0050);
  EXPECT_EQ(keys_.take_reports(10), reported);
  keys_.settle(kKey, {.id = 8});
  keys_.synchronize({});
  execute(0x0050);
  EXPECT_EQ(keys_.take_reports(10), reported);
  EXPECT_EQ(handler_.method_statistics().at("hot_requests"), 7);
}

TEST_F(FarReachHandlerTest, WhatNoSwitchSendsToAServerIsNotAccepted) {
  for (const int type :
       {0x0001, 0x0040, 0x02d0, 0x006b, 0x0043, 0x0022, 0x003b, 0x0190, 0x0009, 0x0000}) {
    EXPECT_FALSE(handler_.accepts(static_cast<PacketType>(type))) << type;
  }
}

class NetCacheHandlerTest : public NumberedHandlersTest {
 protected:
  NetCacheHandlerTest()
      : server_(net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64)),
        switch_(net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64)),
        updates_(server_.get(), {.retry_ns = kRetryNs}) {
    // The test plays the switch, at the address of the client.
    client_ = net::address_of(switch_.get());
  }

  Outcome execute(std::uint16_t type, std::uint32_t number, const Bytes& value, Packet& answer) {
    Packet packet = request(type, number);
    packet.value = value;
    const Outcome outcome = handler_.execute(packet, client_, answer);
    if (outcome == Outcome::kAnswer) handler_.background()->finished(++now_ns_);
    return outcome;
  }
  Outcome execute(std::uint16_t type, std::uint32_t number, const Bytes& value) {
    Packet ignored;
    return execute(type, number, value, ignored);
  }

  // The update that the switch gets; nothing if there is none.
  std::optional<Packet> update() {
    handler_.background()->run(now_ns_);
    if (received_.receive(switch_.get()) != 1) return std::nullopt;
    Packet packet;
    EXPECT_EQ(decode(received_.at(0).bytes, packet), DecodeStatus::kOk);
    EXPECT_EQ(packet.type, PacketType::kValueUpdate);
    EXPECT_EQ(packet.key, workload::wire_key(kKey));
    return packet;
  }

  void acknowledge(std::uint32_t request_id) {
    std::array<std::uint8_t, kMaxPacketBytes> bytes;
    const std::size_t size = encode({.type = PacketType::kValueUpdateAck,
                                     .key = workload::wire_key(kKey),
                                     .request_id = request_id},
                                    bytes);
    const sockaddr_in to = net::address_of(server_.get());
    ::sendto(switch_.get(), bytes.data(), size, 0, reinterpret_cast<const sockaddr*>(&to),
             sizeof to);
    handler_.background()->run(now_ns_);
  }

  static constexpr std::int64_t kRetryNs = 1'000'000;
  UniqueFd server_;
  UniqueFd switch_;
  sockaddr_in client_{};
  std::int64_t now_ns_ = 1'000'000'000;
  net::ReceiveBatch received_;
  ValueUpdates updates_;
  CachedKeys keys_{{.holds_writes = true}};
  NetCacheHandler handler_{*records_, updates_, keys_, kPartition, 16, [](const std::string&) {}};
};

TEST_F(NetCacheHandlerTest, AWriteOfACachedKeyUpdatesTheSwitch) {
  Packet answer;
  ASSERT_EQ(execute(0x0043, 5, {1, 2}, answer), Outcome::kAnswer);
  EXPECT_EQ(answer.type, PacketType::kPutResponseSeq);
  EXPECT_EQ(answer.sequence, 5u);
  const auto put = update();
  ASSERT_TRUE(put);
  EXPECT_EQ(value_of(*put), (Bytes{1, 2}));
  EXPECT_EQ(put->sequence, 5u);
  EXPECT_EQ(put->stat, kStatSuccess);
  EXPECT_EQ(put->node, kPartition);
  acknowledge(put->request_id);

  ASSERT_EQ(execute(0x0022, 6, {}, answer), Outcome::kAnswer);
  EXPECT_EQ(answer.type, PacketType::kDeleteResponseSeq);
  const auto del = update();
  ASSERT_TRUE(del);
  EXPECT_EQ(del->sequence, 6u);
  EXPECT_EQ(del->stat, kStatAbsent);
  EXPECT_NE(del->request_id, put->request_id);
}

TEST_F(NetCacheHandlerTest, OtherRequestsUpdateNothing) {
  EXPECT_EQ(execute(0x0003, 5, {1}), Outcome::kAnswer);         // not cached
  EXPECT_EQ(execute(0x0042, 6, Bytes(200)), Outcome::kAnswer);  // no room for it in the switch
  EXPECT_EQ(execute(0x0043, 4, {1}), Outcome::kAnswer);         // outdated
  EXPECT_EQ(execute(0x0030, 0, {}), Outcome::kAnswer);
  EXPECT_FALSE(update());
}

TEST_F(NetCacheHandlerTest, ALaterWriteOfTheKeyWaitsForTheAcknowledgement) {
  ASSERT_EQ(execute(0x0043, 5, {5}), Outcome::kAnswer);
  EXPECT_EQ(execute(0x0043, 6, {6}), Outcome::kHeldBack);
  EXPECT_EQ(execute(0x0003, 6, {6}), Outcome::kHeldBack);
  EXPECT_EQ(execute(0x0022, 6, {}), Outcome::kHeldBack);
  Packet read;
  EXPECT_EQ(execute(0x0030, 0, {}, read), Outcome::kAnswer);  // reads do not wait
  EXPECT_EQ(read.sequence, 5u);
  const auto sent = update();
  ASSERT_TRUE(sent);
  acknowledge(sent->request_id + 1);  // of something else
  EXPECT_EQ(execute(0x0043, 6, {6}), Outcome::kHeldBack);
  acknowledge(sent->request_id);
  EXPECT_EQ(execute(0x0043, 6, {6}), Outcome::kAnswer);
  acknowledge(sent->request_id);  // a late twin
  EXPECT_EQ(execute(0x0043, 7, {7}), Outcome::kHeldBack);
  EXPECT_EQ(updates_.counters().unexpected.get(), 2);
}

TEST_F(NetCacheHandlerTest, AnUpdateIsSentUntilItIsAcknowledged) {
  ASSERT_EQ(execute(0x0043, 5, {5}), Outcome::kAnswer);
  const auto first = update();
  ASSERT_TRUE(first);
  EXPECT_FALSE(update());
  EXPECT_EQ(handler_.background()->next_ns(), now_ns_ + kRetryNs);
  now_ns_ += kRetryNs;
  const auto second = update();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->request_id, first->request_id);
  acknowledge(first->request_id);
  now_ns_ += 10 * kRetryNs;
  EXPECT_FALSE(update());
  EXPECT_EQ(handler_.background()->next_ns(), INT64_MAX);
  EXPECT_EQ(updates_.counters().sent.get(), 1);
  EXPECT_EQ(updates_.counters().retries.get(), 1);
  EXPECT_EQ(updates_.counters().acknowledged.get(), 1);
}

TEST_F(NetCacheHandlerTest, WritesOfAKeyBeingAdmittedWaitUntilThatIsSettled) {
  keys_.mark(std::array{kKey});
  EXPECT_EQ(execute(0x0003, 5, {5}), Outcome::kHeldBack);
  EXPECT_EQ(execute(0x0043, 5, {5}), Outcome::kHeldBack);
  keys_.settle(kKey, {});
  EXPECT_EQ(execute(0x0003, 5, {5}), Outcome::kAnswer);
  keys_.mark(std::array{kKey});
  keys_.settle(kKey, {.id = 1, .number = 5});
  EXPECT_EQ(execute(0x0043, 6, {6}), Outcome::kAnswer);
  EXPECT_TRUE(keys_.take_evictions().empty());
}

TEST_F(NetCacheHandlerTest, AWriteThatPassedBeforeTheKeyWasCachedWaitsForItsEviction) {
  keys_.mark(std::array{kKey});
  keys_.settle(kKey, {.id = 1});
  EXPECT_EQ(execute(0x0003, 5, {5}), Outcome::kHeldBack);
  EXPECT_EQ(execute(0x0003, 5, {5}), Outcome::kHeldBack);
  const CachedKeys::Eviction eviction{kKey, 1};
  EXPECT_EQ(keys_.take_evictions(), std::vector{eviction});  // asked for once
  keys_.eviction_answered(eviction);
  EXPECT_EQ(execute(0x0003, 5, {5}), Outcome::kAnswer);
}

// It passed the switch in the admission before, whose slot it has superseded, not this one.
TEST_F(NetCacheHandlerTest, AWriteOfAnEarlierAdmissionWaitsForTheEvictionToo) {
  keys_.mark(std::array{kKey});
  keys_.settle(kKey, {.id = 2, .number = 5});
  EXPECT_EQ(execute(0x0043, 5, {5}), Outcome::kHeldBack);
  EXPECT_EQ(keys_.take_evictions().size(), 1u);
  keys_.evicted(kKey, 2);
  EXPECT_EQ(execute(0x0043, 5, {5}), Outcome::kAnswer);
}

}  // namespace
}  // namespace turntable::kv
