// kvclient's answers to a controller that the test plays, over loopback.
#include "farreach/kv/copies_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "farreach/kv/client_thread.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/testing_controller.h"
#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {

using cache::Message;
using cache::MessageType;
using Kind = cache::Record::Kind;
using Numbers = std::map<workload::KeyId, std::uint32_t>;

// Ids whose order on the wire (low word first) is another one.
constexpr workload::KeyId kFirst = std::uint64_t{9} << 32 | 1, kSecond = 2, kThird = 3;

class CopiesLinkTest : public ::testing::Test {
 protected:
  CopiesLinkTest() { connect(); }

  // Two threads of clients that never run: only their copies matter.
  void connect() {
    link_.reset();
    for (auto& client : clients_) {
      client.emplace(ClientThread::Settings{.first_client = 0,
                                            .clients = 1,
                                            .first_global_client = 0,
                                            .value_bytes = 128,
                                            .timeout_ns = 1,
                                            .copies_max = 100},
                     replay_, nullptr);
    }
    link_.emplace(controller_.address(), net::testing::credentials(),
                  std::vector<ClientPart*>{&*clients_[0], &*clients_[1]});
  }

  void keep(std::size_t client, workload::KeyId key, std::uint32_t number) {
    clients_[client]->copies().keep(
        {.key = key, .version = number, .number = number, .value_bytes = 16, .exists = true});
  }

  static cache::Record listed(workload::KeyId key, std::uint32_t number) {
    cache::Record record = cache::key_only(workload::wire_key(key));
    record.number = number;
    return record;
  }

  Message release(std::uint32_t list, bool confirmed, std::vector<cache::Record> records = {}) {
    return controller_.ask(MessageType::kReleaseCopies, {list, confirmed ? 1U : 0U},
                           std::move(records));
  }

  // What COPIES answers, page by page.
  std::vector<cache::Record> copies(std::uint32_t page = 100) {
    std::vector<cache::Record> all, behind;
    while (true) {
      const Message answer = controller_.ask(MessageType::kCopies, {page}, behind);
      EXPECT_EQ(answer.text, "");
      all.insert(all.end(), answer.records.begin(), answer.records.end());
      if (answer.records.size() < page) return all;
      behind = {cache::key_only(answer.records.back().key)};
    }
  }
  Numbers numbers() {
    Numbers numbers;
    for (const cache::Record& record : copies()) {
      numbers[*workload::key_id_from_wire(record.key)] = record.number;
    }
    return numbers;
  }

  testing::PlayedController controller_;
  const std::atomic<bool> not_cancelled_{false};
  Traces traces_{testing::small_workload(), 0, 4, not_cancelled_};
  Replay replay_{traces_, 4, std::vector{2U}};
  std::array<std::optional<ClientThread>, 2> clients_;
  std::optional<CopiesLink> link_;
};

TEST_F(CopiesLinkTest, GreetsAsAClient) {
  EXPECT_EQ(controller_.hello().type, MessageType::kClientHello);
  EXPECT_EQ(controller_.hello().numbers, std::vector<std::uint32_t>{cache::kMessagesVersion});
}

TEST_F(CopiesLinkTest, CopiesAreTheNewestOfAllClientsInOrderOfTheirKeys) {
  keep(0, kThird, 4);
  keep(1, kThird, 5);
  keep(1, kFirst, 2);
  clients_[0]->copies().keep({.key = kSecond, .number = 7});  // a delete
  const auto records = copies();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].key, workload::wire_key(kFirst));
  EXPECT_EQ(records[1].key, workload::wire_key(kSecond));
  EXPECT_EQ(records[1].kind, Kind::kDeleted);
  EXPECT_TRUE(records[1].value.empty());
  EXPECT_EQ(records[2].number, 5u);
  std::vector<std::uint8_t> value(16);
  fill_value(value, kThird, /*version=*/5);
  EXPECT_EQ(records[2].value, value);
  EXPECT_EQ(copies(/*page=*/1), records);
  EXPECT_EQ(copies(/*page=*/3), records);  // the last page is empty
}

TEST_F(CopiesLinkTest, NoPageSkipsACopyThatWasThereBefore) {
  for (workload::KeyId key = 1; key <= 40; key += 2) keep(key % 4 == 1 ? 0 : 1, key, 1);
  std::vector<cache::Record> behind;
  workload::KeyId expected = 1;
  while (expected <= 40) {
    const Message answer = controller_.ask(MessageType::kCopies, {3}, behind);
    for (const cache::Record& record : answer.records) {
      const auto key = *workload::key_id_from_wire(record.key);
      if (key % 2 == 0) continue;
      EXPECT_EQ(key, expected);
      expected += 2;
    }
    if (answer.records.size() < 3) break;
    const auto last = *workload::key_id_from_wire(answer.records.back().key);
    keep(0, last + 1, 1);  // meanwhile, behind the page and elsewhere
    keep(1, last > 1 ? last - 1 : 100, 1);
    behind = {answer.records.back()};
  }
  EXPECT_EQ(expected, 41u);
}

TEST_F(CopiesLinkTest, AListReleasesWhatTheSnapshotHolds) {
  keep(0, kFirst, 5);
  keep(1, kFirst, 4);
  keep(1, kSecond, 5);
  EXPECT_EQ(release(1, false, {listed(kSecond, 5), listed(kFirst, 4)}).text, "");
  EXPECT_EQ(numbers(), (Numbers{{kFirst, 5}}));
}

TEST_F(CopiesLinkTest, AnUnlistedCopyGoesOnlyWithAConfirmedListAfterTheNext) {
  keep(0, kFirst, 1);
  release(1, true);  // there was none before
  keep(0, kSecond, 1);
  release(2, false);  // the controller does not know when the list before was answered
  EXPECT_EQ(numbers(), (Numbers{{kFirst, 1}, {kSecond, 1}}));
  keep(0, kThird, 1);
  release(3, true);
  EXPECT_EQ(numbers(), (Numbers{{kThird, 1}}));
}

TEST_F(CopiesLinkTest, AListThatComesTwiceCountsOnceAndOlderOnesDoNotCount) {
  keep(0, kFirst, 1);
  release(2, true);
  EXPECT_EQ(release(2, true).text, "");
  EXPECT_EQ(numbers(), (Numbers{{kFirst, 1}}));
  EXPECT_NE(release(1, true, {listed(kFirst, 1)}).text.find("after list 2"), std::string::npos);
  EXPECT_EQ(numbers(), (Numbers{{kFirst, 1}}));
  EXPECT_EQ(
      link_->statistics(),
      (nlohmann::json{{"connected", true}, {"lists", 1}, {"repeated_lists", 1}, {"refused", 1}}));
}

TEST_F(CopiesLinkTest, ItOutlivesTheController) {
  keep(0, kFirst, 1);
  release(1, true);
  controller_.restart();
  EXPECT_EQ(controller_.hello().type, MessageType::kClientHello);
  release(1, true);  // sent again by the next controller
  EXPECT_EQ(numbers(), (Numbers{{kFirst, 1}}));
  release(2, true);
  EXPECT_TRUE(numbers().empty());
}

TEST_F(CopiesLinkTest, WhatMakesNoSenseIsAFailureAndEndsNothing) {
  EXPECT_NE(controller_.ask(MessageType::kCopies).text, "");
  EXPECT_NE(controller_.ask(MessageType::kCopies, {0}).text, "");
  EXPECT_NE(controller_.ask(MessageType::kCopies, {UINT32_MAX}).text, "");
  EXPECT_NE(controller_.ask(MessageType::kCopies, {1}, {listed(1, 0), listed(2, 0)}).text, "");
  EXPECT_NE(controller_.ask(MessageType::kReleaseCopies, {1}).text, "");
  EXPECT_NE(controller_.ask(MessageType::kReleaseCopies, {1, 2}).text, "");
  cache::Record odd = listed(kFirst, 1);
  odd.key[0] = 1;
  EXPECT_NE(release(1, true, {odd}).text, "");
  EXPECT_NE(controller_.ask(MessageType::kStore).text, "");
  keep(0, kFirst, 1);
  EXPECT_EQ(release(1, false, {listed(kFirst, 1)}).text, "");
  EXPECT_TRUE(numbers().empty());
}

}  // namespace
}  // namespace turntable::kv
