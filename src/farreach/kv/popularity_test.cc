// Clients whose hot keys change, against a server that the test plays.
#include "farreach/kv/popularity.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "farreach/kv/popularity_plan.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/trace_clients.h"
#include "farreach/kv/value.h"
#include "workload/hottest.h"

namespace turntable::kv {
namespace {

using Json = nlohmann::json;
using workload::KeyId;

constexpr unsigned kScale = 2;
constexpr std::uint32_t kClients = 4;

unsigned partition_of(KeyId key) {
  return workload::partition_of(workload::slot_of(key), kScale);
}

class PopularityTest : public ::testing::Test, public RequestSink {
 protected:
  PopularityTest() : hottest_(workload::hottest_keys(workload_, 2)) {
    others_ = {workload::key_id(workload_.records + 1), workload::key_id(workload_.records + 2)};
    replay_.emplace(traces_, kScale, std::vector<unsigned>{1, 0},
                    std::vector<std::vector<KeyId>>{hottest_, {others_[0], hottest_[0]}, others_});
    const TraceClients::Settings settings{.first_client = 0,
                                          .clients = kClients,
                                          .first_global_client = 0,
                                          .value_bytes = workload_.value_bytes,
                                          .timeout_ns = 1'000'000};
    loops_.emplace(settings, *replay_, *this);
    loops_->set_window(0, 1'000'000'000);
    loops_->begin(0);
    loops_->enter(load::Phase::kMeasure);
  }

  void send(const ClientRequest& request) noexcept override { sent_[request.client] = request; }

  // The right answer to what a client has asked last.
  void answer(std::uint32_t client) {
    const ClientRequest request = sent_.at(client);
    value_.resize(workload_.value_bytes);
    fill_value(value_, request.key, kLoadedVersion);
    loops_->handle({.type = PacketType::kGetResponse,
                    .key = workload::wire_key(request.key),
                    .request_id = request.id,
                    .value = value_,
                    .stat = kStatSuccess,
                    .node = static_cast<std::uint16_t>(partition_of(request.key))},
                   1000);
  }

  KeyId trace_key(std::uint32_t client, std::size_t index) const {
    return traces_.all()[client].at(index).key;
  }

  // What the client's request for this key is for, by hand.
  KeyId wanted(KeyId key, std::size_t period) const {
    const auto& first = hottest_;
    const std::vector<std::vector<KeyId>> lists = {first, {others_[0], first[0]}, others_};
    if (key == first[0]) return lists[period][0];
    return key == first[1] ? lists[period][1] : key;
  }

  // Every client's next `count` requests, from the one under way on.
  void play(std::size_t& at, std::size_t count, std::size_t period) {
    for (std::size_t i = 0; i < count; ++i, ++at) {
      for (std::uint32_t client = 0; client < kClients; ++client) {
        const KeyId expected = wanted(trace_key(client, at), i == 0 ? before_ : period);
        const ClientRequest& request = sent_.at(client);
        ASSERT_EQ(request.key, expected) << "request " << at << " of client " << client;
        // Running partitions are {1, 0}: the index is not the number.
        EXPECT_EQ(replay_->partitions()[request.running], partition_of(expected));
        hot_ += expected != trace_key(client, at);
        answer(client);
      }
    }
    before_ = period;
  }

  const workload::Workload workload_ = testing::small_workload("workloadc");
  const Traces traces_{workload_, 0, kClients, testing::kNotCancelled};
  std::vector<KeyId> hottest_, others_;
  std::optional<Replay> replay_;
  std::optional<TraceClients> loops_;
  std::map<std::uint32_t, ClientRequest> sent_;
  std::vector<std::uint8_t> value_;
  std::size_t before_ = 0;  // the period in which the requests under way were sent
  int hot_ = 0;             // requests for another key than the trace's
};

TEST_F(PopularityTest, RequestsFollowTheirPeriodAndWhatIsUnderWayStaysAsItIs) {
  std::size_t at = 0;
  play(at, 100, 0);
  EXPECT_EQ(hot_, 0);
  replay_->popularity()->begin_period(1);
  play(at, 100, 1);
  EXPECT_GT(hot_, 0);
  replay_->popularity()->begin_period(2);
  play(at, 100, 2);
  const ClientStatistics& statistics = loops_->statistics();
  EXPECT_EQ(statistics.mismatched + statistics.wrong_values + statistics.wrong_node, 0);
  EXPECT_EQ(loops_->answers(), 300 * kClients);
}

TEST_F(PopularityTest, ARequestThatIsSentAgainAfterAChangeIsTheSame) {
  std::size_t at = 0;
  // Until a client waits for one of the keys that will be another.
  while (sent_.at(0).key != hottest_[0]) play(at, 1, 0);
  replay_->popularity()->begin_period(1);
  loops_->act(10'000'000);
  EXPECT_GT(loops_->statistics().retries, 0);
  EXPECT_EQ(sent_.at(0).key, hottest_[0]);
  play(at, 10, 1);
  EXPECT_EQ(loops_->statistics().mismatched, 0);
}

TEST_F(PopularityTest, KeysThatAreNotInTheListHaveNoPlace) {
  const Popularity& popularity = *replay_->popularity();
  EXPECT_EQ(popularity.position(hottest_[0]), 0u);
  EXPECT_EQ(popularity.position(hottest_[1]), 1u);
  // Also keys that come into it: their own requests stay theirs.
  EXPECT_EQ(popularity.position(others_[0]), Popularity::kNone);
}

TEST_F(PopularityTest, AllPartitionsOfHotKeysHaveToRun) {
  const std::vector<std::vector<KeyId>> lists = {hottest_};
  const std::vector<unsigned> other = {1 - partition_of(hottest_[0])};
  EXPECT_THROW(Replay(traces_, kScale, other, lists), CommandError);
}

TEST_F(PopularityTest, TheCommandBeginsAPeriodThatThereIs) {
  PopularityChanges changes;
  EXPECT_EQ(changes.begin({{"period", 2}}, &*replay_).at("period"), 2);
  EXPECT_EQ(replay_->popularity()->target(0).key, others_[0]);
  EXPECT_THROW(changes.begin({{"period", 3}}, &*replay_), CommandError);
  EXPECT_THROW(changes.begin({{"period", 1}}, nullptr), CommandError);
  Replay without(traces_, kScale, std::vector<unsigned>{0, 1});
  EXPECT_THROW(changes.begin({{"period", 1}}, &without), CommandError);
  ASSERT_EQ(changes.begun().size(), 1u);
  EXPECT_GT(changes.begun()[0].at("at_ns"), 0);
}

TEST_F(PopularityTest, ListsAreReadFromPrepare) {
  const auto lists = [&](const Json& popularity) {
    const Json args = {{"popularity", popularity}};
    return hot_lists_of(Arguments("test", args, {"popularity"}), workload_);
  };
  const Json change = {{"keys", {7, 8}}};
  EXPECT_EQ(lists({{"pattern", "hotin"}, {"hot_list", 2}, {"changes", {change}}}),
            (std::vector<std::vector<KeyId>>{hottest_, {7, 8}}));
  const Json place = {{"keys", {9}}, {"positions", {1}}};
  EXPECT_EQ(lists({{"pattern", "random"}, {"hot_list", 2}, {"changes", {place}}}),
            (std::vector<std::vector<KeyId>>{hottest_, {hottest_[0], 9}}));
  const Json nothing = {{"keys", Json::array()}};
  EXPECT_EQ(lists({{"pattern", "stable"}, {"hot_list", 2}, {"changes", {nothing}}}).size(), 2u);
  EXPECT_THROW(lists({{"pattern", "hotin"}, {"hot_list", 1}, {"changes", {change}}}), CommandError);
  const Json none = Json::object();
  EXPECT_TRUE(hot_lists_of(Arguments("test", none, {"popularity"}), workload_).empty());
}

}  // namespace
}  // namespace turntable::kv
