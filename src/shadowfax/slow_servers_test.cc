// Servers of a cluster, in this process, of which some answer later than others look again, or not
// at all: whoever asks them gets what he asks for, once they do.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/testing_client.h"
#include "net/ipv4.h"
#include "net/testing_credentials.h"
#include "shadowfax/cluster/metadata_server.h"
#include "shadowfax/server/moved_record.h"
#include "shadowfax/server/peer_limits.h"
#include "shadowfax/server/store_server.h"

namespace turntable::shadowfax {
namespace {

using namespace std::chrono_literals;
using hybridlog::hash_of;
using hybridlog::Session;
using hybridlog::Status;
using hybridlog::testing::Client;
using hybridlog::testing::settled;

constexpr double kPatience = 30;
constexpr std::uint64_t kKeys = 3000;  // 72 kB, of which memory has 32
constexpr std::chrono::duration<double> kLate{1.5 * kLookSeconds};

Deadline patience() {
  return Deadline::after_seconds(kPatience);
}

void wait_until(const std::function<bool()>& condition, const char* what) {
  const Deadline deadline = patience();
  while (!condition()) {
    if (deadline.passed()) throw std::runtime_error(std::string("never: ") + what);
    std::this_thread::sleep_for(1ms);
  }
}

class Metadata {
 public:
  Metadata(const std::string& file, ServerNumber owners)
      : server_(loop_, net::parse_ipv4("", "127.0.0.1", 0), net::testing::credentials("metadata"),
                file, owners),
        thread_([this] { loop_.run(); }) {}
  ~Metadata() {
    loop_.stop();
    thread_.join();
  }
  Metadata(const Metadata&) = delete;
  Metadata& operator=(const Metadata&) = delete;

  sockaddr_in address() const { return net::parse_ipv4("", "127.0.0.1", server_.port()); }
  // Hears nothing while the task runs.
  void run(std::function<void()> task) { loop_.post(std::move(task)); }

 private:
  net::EventLoop loop_;
  MetadataServer server_;
  std::thread thread_;  // last: it uses the others
};

class Servers {
 public:
  using AtStep = std::function<void(std::string_view)>;

  // The first ones own equal ranges.
  explicit Servers(ServerNumber owners = 1)
      : metadata_(directory_.path() / "state.json", owners),
        asking_("metadata", metadata_.address(), net::testing::credentials("test")) {}

  // Perhaps again, with what it had.
  void begin(ServerNumber number, AtStep at_step = {},
             std::chrono::nanoseconds between_checkpoints = 20ms) {
    const std::string file = directory_.path() / std::to_string(number);
    StoreServer::Settings settings;
    settings.store = {.index_buckets = index_buckets_,
                      .log = {.page_bits = 12, .pages = 8, .mutable_share = 0.5},
                      .threads = 4,
                      .reader_threads = 2};
    settings.file = file;
    settings.checkpoints = {.file = file + ".json", .interval = between_checkpoints};
    settings.cluster = ClusterSettings{
        .number = number,
        .metadata = metadata_.address(),
        .credentials = [](const std::string& name) { return net::testing::credentials(name); },
        .gone_time = gone_time_,
        .at_step =
            [at_step = std::move(at_step)](const char* step) {
              if (at_step) at_step(step);
            }};
    servers_[number].emplace(settings);
  }
  void end(ServerNumber number) { servers_[number].reset(); }
  std::uint64_t checkpoints(ServerNumber number) { return servers_.at(number)->checkpoints().made; }
  hybridlog::Store& store(ServerNumber number) { return servers_.at(number)->store(); }
  ClusterMember& member(ServerNumber number) { return *servers_.at(number)->member(); }
  ClusterState state() {
    return state_of(asking_.ask(ClusterMessageType::kGet, nlohmann::json::object(), patience()));
  }
  // As a server asks the metadata service: its process that is there, or an earlier one.
  void tell(ServerNumber number, ClusterMessageType type, nlohmann::json args) {
    args["incarnation"] = incarnation(number);
    tell(type, args);
  }
  void tell(ClusterMessageType type, const nlohmann::json& args) {
    asking_.ask(type, args, patience());
  }
  std::string incarnation(ServerNumber number) { return state().incarnation_of(number); }
  // As another process of the server, which nobody reaches.
  void enrol(ServerNumber number, const std::string& incarnation, const std::string& replaces) {
    tell(ClusterMessageType::kEnrol, {{"server", number},
                                      {"incarnation", incarnation},
                                      {"replaces", replaces},
                                      {"address", "127.0.0.1"},
                                      {"ports", {1}},
                                      {"peer_port", 1}});
  }
  // The metadata service hears nothing while the task runs.
  void hold_metadata(std::function<void()> task) { metadata_.run(std::move(task)); }
  // Of servers that begin later.
  void give_up_after(std::chrono::nanoseconds gone_time) { gone_time_ = gone_time; }
  void have_buckets(std::size_t index_buckets) { index_buckets_ = index_buckets; }
  // Whether the metadata service can write its file.
  void keep_states(bool can) {
    const auto in_the_way = directory_.path() / "state.json.new";
    can ? std::filesystem::remove(in_the_way) : std::filesystem::create_directory(in_the_way);
  }
  // As another server asks it.
  nlohmann::json ask(ServerNumber number, ClusterMessageType type,
                     const nlohmann::json& args = nlohmann::json::object(),
                     std::vector<std::uint8_t> records = {}) {
    return connect(number)->ask(type, args, patience(), std::move(records));
  }
  std::unique_ptr<Asking> connect(ServerNumber number) {
    return std::make_unique<Asking>(
        "server", net::parse_ipv4("", "127.0.0.1", servers_.at(number)->peer_port()),
        net::testing::credentials("third"));
  }

  // What it owns of the keys.
  void fill(ServerNumber number, std::size_t value_bytes = kFewestValueBytes) {
    const View view = state().view;
    Client client(store(number));
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      if (view.owner_of(hash_of(key)) != number) continue;
      const std::vector<std::byte> value(value_bytes, static_cast<std::byte>(key));
      ASSERT_EQ(client.upsert_value(key, value), Status::kOk);
      client.refresh();
    }
  }
  nlohmann::json departure(ServerNumber from) { return member(from).status().at("departure"); }
  // Until it is complete. The source may not have heard yet that the one before is.
  void move(ServerNumber from, ServerNumber to, double share, bool indirection) {
    std::uint64_t id = 0;
    const auto has_begun = [&] {
      try {
        id = member(from).migrate(to, share, /*sample_s=*/0, indirection, patience());
      } catch (const Refusal&) {
        return false;
      }
      return true;
    };
    wait_until(has_begun, "the begin of the migration");
    wait_until([&] { return !state().migration; }, "the end of the migration");
    ASSERT_EQ(state().last_migration, id);
    wait_until([&] { return is_over(departure(from).at("step")); }, "its end at the source");
    ASSERT_EQ(departure(from).at("step"), "complete") << departure(from);
  }
  // Keys that the server owns, some of the first ones.
  std::vector<std::uint64_t> keys_of(ServerNumber owner, std::size_t count) {
    const View view = state().view;
    std::vector<std::uint64_t> keys;
    for (std::uint64_t key = 0; keys.size() < count; ++key)
      if (view.owner_of(hash_of(key)) == owner) keys.push_back(key);
    return keys;
  }

 private:
  static bool is_over(const std::string& step) { return step == "complete" || step == "cancelled"; }

  ScratchDirectory directory_;
  Metadata metadata_;
  Asking asking_;
  std::chrono::nanoseconds gone_time_ = kGoneTime;
  std::size_t index_buckets_ = 256;
  std::map<ServerNumber, std::optional<StoreServer>> servers_;
};

// Who stops at a step until it may go on.
class Stops {
 public:
  explicit Stops(std::string_view step) : step_(step) {}

  Servers::AtStep hook() {
    return [this](std::string_view step) {
      if (step != step_ || goes_on_) return;
      is_there_ = true;
      const Deadline deadline = patience();
      while (!goes_on_ && !deadline.passed()) std::this_thread::sleep_for(1ms);
      EXPECT_TRUE(goes_on_) << step_;
    };
  }
  void wait() const {
    wait_until([this] { return is_there_.load(); }, "the step");
  }
  void go_on() { goes_on_ = true; }

 private:
  const std::string_view step_;
  std::atomic<bool> is_there_{false}, goes_on_{false};
};

// Who is late at some steps, until it is over.
class Late {
 public:
  explicit Late(std::vector<std::string_view> steps) : steps_(std::move(steps)) {}

  Servers::AtStep hook() {
    return [this](std::string_view step) {
      if (!is_over_ && std::ranges::find(steps_, step) != steps_.end())
        std::this_thread::sleep_for(kLate);
    };
  }
  void end() { is_over_ = true; }

 private:
  const std::vector<std::string_view> steps_;
  std::atomic<bool> is_over_{false};
};

// Reads all keys at once. A client that has no answers could not end: `late` is over then.
void expect_values(Servers& servers, ServerNumber owner, std::size_t count, Late& late) {
  const std::vector<std::uint64_t> keys = servers.keys_of(owner, count);
  std::map<std::uint64_t, Session::Answer> answers;
  Client client(servers.store(owner));
  try {
    for (const std::uint64_t key : keys)
      if (const auto answer = client.read_value(key, key); answer.status != Status::kPending)
        answers[key] = answer;
    wait_until(
        [&] {
          const auto keep = [&](std::uint64_t key, Session::Answer each) { answers[key] = each; };
          return client.complete_pending(keep) == 0;
        },
        "answers");
  } catch (...) {
    late.end();
    throw;
  }
  for (const std::uint64_t key : keys) {
    ASSERT_EQ(answers.at(key).status, Status::kOk) << key;
    EXPECT_EQ(answers.at(key).value, (key & 0xFFU) * 0x0101010101010101U) << key;
  }
}

TEST(SlowServers, ATargetTakesRecordsLate) {
  Late late({"taken"});
  Servers servers;
  servers.begin(0);
  servers.begin(1, late.hook());
  servers.fill(0);
  servers.move(0, 1, 0.5, /*indirection=*/false);
  expect_values(servers, 1, kKeys / 4, late);
}

// Without checkpoints, which would wait for the answers as well.
TEST(SlowServers, ASourceIsLateWithSingleRecords) {
  Late late({"look"});
  Servers servers;
  servers.begin(0, late.hook());
  servers.begin(1, {}, 1h);
  servers.fill(0);
  servers.move(0, 1, 0.5, /*indirection=*/true);
  expect_values(servers, 1, /*count=*/100, late);
  EXPECT_GT(servers.member(1).status()["fetched"], 0);
}

TEST(SlowServers, ASourceIsLateWithAllRecords) {
  Late late({"pull"});
  Servers servers;
  servers.begin(0, late.hook());
  servers.begin(1);
  servers.fill(0);
  servers.move(0, 1, 0.5, /*indirection=*/true);
  ASSERT_EQ(servers.state().unresolved.size(), 1U);
  servers.member(1).resolve(patience());
  EXPECT_TRUE(servers.state().unresolved.empty());
  servers.end(0);  // it is not needed any more
  expect_values(servers, 1, kKeys / 4, late);
}

// A client of the target waits for a key that its source has, which is killed.
TEST(SlowServers, ATargetWithoutItsSourceServesWhatItHasAndPromisesNothing) {
  Servers servers;
  servers.begin(0);
  servers.begin(1);
  servers.fill(0);
  servers.move(0, 1, 0.5, /*indirection=*/true);
  const std::vector<std::uint64_t> keys = servers.keys_of(1, kKeys / 4);
  const std::uint64_t asked = keys.front(), own = keys.back();
  servers.end(0);
  std::atomic<bool> is_asked{false}, is_answered{false};
  std::jthread waits([&] {
    Client client(servers.store(1));
    ASSERT_EQ(client.read(asked).status, Status::kPending);
    while (!is_answered) {
      is_answered = client.complete_pending([](auto, Session::Answer answer) {
        EXPECT_EQ(answer.status, Status::kOk);
      }) == 0;
      is_asked = true;
      std::this_thread::yield();
    }
  });
  wait_until([&] { return is_asked.load(); }, "the question");
  EXPECT_THROW(servers.ask(1, ClusterMessageType::kPrepare), Refusal);
  {
    Client client(servers.store(1));
    EXPECT_EQ(client.upsert(own, 5), Status::kOk);
    EXPECT_EQ(client.read(own).value, 5U);
  }
  EXPECT_FALSE(is_answered);
  servers.begin(0);
  wait_until([&] { return is_answered.load(); }, "the answer");
  const auto is_prepared = [&] {
    try {
      return servers.ask(1, ClusterMessageType::kPrepare).at("receives_from") > 0;
    } catch (const Refusal&) {
      return false;
    }
  };
  wait_until(is_prepared, "a checkpoint");
}

// It is asked for a key, and does not answer before all was pulled from it.
TEST(SlowServers, ASourceIsNotNeededForWhatWasPulled) {
  std::atomic<bool> answers{false};
  Servers servers;
  servers.begin(0, [&, deadline = Deadline::after_seconds(2 * kPatience)](std::string_view step) {
    while (step == "look" && !answers && !deadline.passed()) std::this_thread::sleep_for(1ms);
  });
  servers.begin(1);
  servers.fill(0);
  servers.move(0, 1, 0.5, /*indirection=*/true);
  std::atomic<bool> is_asked{false};
  std::jthread waits([&, key = servers.keys_of(1, 1).front()] {
    Client client(servers.store(1));
    EXPECT_EQ(client.read(key).status, Status::kPending);
    while (client.complete_pending(
               [](auto, Session::Answer answer) { EXPECT_EQ(answer.status, Status::kOk); }) > 0)
      is_asked = true;
  });
  wait_until([&] { return is_asked.load(); }, "the question");
  EXPECT_NO_THROW(servers.member(1).resolve(patience()));
  EXPECT_TRUE(servers.state().unresolved.empty());
  answers = true;
}

// Each takes longer for an answer than the other one waits before it begins anew. Of either half
// there are 1.5 MB, so several answers.
TEST(SlowServers, TwoTargetsPullFromOneSource) {
  const auto slowly = [](std::string_view step) {
    if (step == "pulled") std::this_thread::sleep_for(kPause);
  };
  Servers servers;
  servers.begin(0);
  servers.begin(1, slowly);
  servers.begin(2, slowly);
  servers.fill(0, /*value_bytes=*/1000);
  servers.move(0, 1, 0.5, /*indirection=*/true);
  servers.move(0, 2, 1, /*indirection=*/true);
  ASSERT_EQ(servers.state().unresolved.size(), 2U);
  std::jthread other([&] { EXPECT_NO_THROW(servers.member(2).resolve(patience())); });
  servers.member(1).resolve(patience());
  wait_until([&] { return servers.state().unresolved.empty(); }, "all that is pointed to");
  EXPECT_GE(servers.member(1).status()["resolver"]["records"], kKeys / 3);
}

TEST(SlowServers, ADeadSourceDoesNotHoldUpAnotherOne) {
  Late never({});
  Servers servers(/*owners=*/3);
  for (const ServerNumber each : {0, 1, 2}) {
    servers.begin(each);
    servers.fill(each, /*value_bytes=*/100);
  }
  for (const ServerNumber each : {1, 2}) servers.move(each, 0, 1, /*indirection=*/true);
  const auto unresolved = [&] {
    std::vector<ServerNumber> sources;
    for (const Unresolved& each : servers.state().unresolved) sources.push_back(each.source);
    return sources;
  };
  ASSERT_EQ(unresolved(), (std::vector<ServerNumber>{1, 2}));
  servers.end(1);
  EXPECT_THROW(servers.member(0).resolve(Deadline::after_seconds(0.1)), NoAnswer);
  wait_until([&] { return unresolved() == std::vector<ServerNumber>{1}; }, "the other one's");
  servers.begin(1);
  wait_until([&] { return unresolved().empty(); }, "all that is pointed to");
  servers.end(1);
  servers.end(2);
  expect_values(servers, 0, kKeys, never);
}

// Others look, and ask it, while it waits for the metadata service.
TEST(SlowServers, ATargetAnswersWhileTheMetadataServiceIsTold) {
  Stops stops("finished");
  Servers servers;
  servers.begin(0);
  servers.begin(1, stops.hook());
  servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/false, patience());
  stops.wait();
  EXPECT_EQ(servers.ask(1, ClusterMessageType::kStatus).at("receives"), 1);
  stops.go_on();
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
}

// A range has come to server 1, which is at the step: metadata knows that, and it does not. Another
// one begins to arrive.
void expect_another_range_arrives(std::string_view step) {
  Stops stops(step);
  Servers servers(/*owners=*/3);
  servers.begin(0);
  servers.begin(1, stops.hook());
  servers.begin(2);
  const nlohmann::json prepared = servers.ask(1, ClusterMessageType::kPrepare);
  servers.member(0).migrate(1, 1, /*sample_s=*/0, /*indirection=*/false, patience());
  stops.wait();
  const hybridlog::HashRange next = servers.state().view.share_of(2, 1).value();
  servers.tell(1, ClusterMessageType::kComplete, {{"id", 1}});
  servers.tell(2, ClusterMessageType::kBegin,
               {{"id", 2},
                {"first", next.first},
                {"last", next.last},
                {"source", 2},
                {"target", 1},
                {"receives_from", prepared.at("receives_from")},
                {"indirection", false}});
  servers.tell(2, ClusterMessageType::kOwn, {{"id", 2}});
  nlohmann::json of_next = {{"id", 2}};
  of_next["incarnation"] = servers.ask(1, ClusterMessageType::kRecords, of_next).at("incarnation");
  stops.go_on();
  wait_until([&] { return servers.departure(0).at("step") == "complete"; }, "the end of the first");
  EXPECT_EQ(servers.member(1).status().at("receives"), 2);
  EXPECT_TRUE(servers.store(1).awaited().is_any());
  EXPECT_FALSE(servers.ask(1, ClusterMessageType::kRecords, of_next).contains("complete"));
  EXPECT_EQ(servers.ask(1, ClusterMessageType::kFinish, of_next).at("complete"), true);
  EXPECT_FALSE(servers.state().migration);
  EXPECT_TRUE(servers.member(1).status().at("receives").is_null());
}

TEST(SlowServers, ALateAnswerOfMetadataEndsNoOtherArrival) {
  expect_another_range_arrives("finished");
}

TEST(SlowServers, ALateFinishEndsNoOtherArrival) {
  expect_another_range_arrives("finish");
}

// It is asked to finish again and again, and its source sends all once more.
TEST(SlowServers, ATargetThatHasAllTakesNothingMore) {
  constexpr std::uint64_t kNobodys = kKeys + 1;
  std::atomic<int> told{0};
  Servers servers;
  servers.begin(0);
  servers.begin(1, [&](std::string_view step) {
    if (step == "finished" && ++told == 1) servers.keep_states(false);
  });
  servers.fill(0);
  servers.member(0).migrate(1, 1, /*sample_s=*/0, /*indirection=*/true, patience());
  wait_until([&] { return told > 1; }, "the second attempt");
  const void* const counts = servers.store(1).elsewhere().state();
  wait_until([&, before = told.load()] { return told > before + 1; }, "further attempts");
  std::vector<std::uint8_t> records;
  append(records, hybridlog::ScannedRecord{.key = kNobodys, .value = hybridlog::bytes_of(5)});
  const auto taken = servers.ask(1, ClusterMessageType::kRecords, {{"id", 1}}, records);
  EXPECT_TRUE(taken.contains("incarnation"));
  EXPECT_EQ(servers.store(1).elsewhere().state(), counts);
  servers.keep_states(true);
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
  {
    Client client(servers.store(1));
    EXPECT_EQ(settled(client, client.read(kNobodys)).status, Status::kNotFound);
  }
  servers.member(1).resolve(patience());
  EXPECT_TRUE(servers.state().unresolved.empty());
  EXPECT_FALSE(servers.store(1).elsewhere().floor_of(1));
}

// The metadata service has noted that the migration is complete, and its answer comes so late that
// the source, which would ask again, has died.
TEST(SlowServers, ATargetHearsThatAllIsCompleteWithoutItsSource) {
  Stops stops("finished"), silence("silent");
  Servers servers;
  servers.begin(0);
  servers.begin(1, stops.hook());
  servers.fill(0);
  servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/false, patience());
  stops.wait();
  servers.end(0);
  servers.hold_metadata([hook = silence.hook()] { hook("silent"); });
  silence.wait();
  stops.go_on();
  std::this_thread::sleep_for(kLate);
  silence.go_on();
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
  wait_until([&] { return servers.member(1).status().at("receives").is_null(); }, "the answer");
  EXPECT_NO_THROW(servers.ask(1, ClusterMessageType::kPrepare));
}

// The service could not write its file, and the source has died since.
TEST(SlowServers, ATargetWhoseCompleteWasRefusedAsksAgainWithoutItsSource) {
  std::atomic<int> told{0};
  Servers servers;
  servers.begin(0);
  servers.begin(1, [&](std::string_view step) {
    if (step == "finished" && ++told == 1) servers.keep_states(false);
  });
  servers.fill(0);
  servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/false, patience());
  wait_until([&] { return told > 1; }, "the second attempt");
  servers.end(0);
  servers.keep_states(true);
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
  wait_until([&] { return servers.member(1).status().at("receives").is_null(); }, "the answer");
  EXPECT_NO_THROW(servers.ask(1, ClusterMessageType::kPrepare));
}

// It is begun again when it has all. What its process before has asked comes only then: this one
// does not know yet to what it points, would pull nothing, and say that it has.
TEST(SlowServers, ACompleteOfAnEarlierProcessCompletesNothing) {
  Late never({});
  Stops stops("finished");
  std::atomic<int> told{0};
  Servers servers;
  servers.begin(0);
  servers.begin(1, [&, hook = stops.hook()](std::string_view step) {
    if (step == "finished") ++told;
    hook(step);
  });
  servers.fill(0);
  servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/true, patience());
  stops.wait();
  servers.enrol(1, "again", servers.incarnation(1));
  stops.go_on();
  wait_until([&] { return told > 1; }, "the refusal");
  EXPECT_TRUE(servers.state().migration);
  servers.end(1);
  servers.begin(1);
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
  servers.member(1).resolve(patience());
  EXPECT_TRUE(servers.state().unresolved.empty());
  servers.end(0);  // it is not needed any more
  expect_values(servers, 1, kKeys / 4, never);
}

TEST(SlowServers, AServerLooksAgainWhoseEnrolComesAfterALateOne) {
  int looks = 0;
  Servers servers;
  servers.begin(0, [&](std::string_view step) {
    if (step == "enrol" && ++looks == 1) servers.enrol(0, "late", "");
  });
  EXPECT_EQ(looks, 2);
  EXPECT_NE(servers.incarnation(0), "late");
  EXPECT_NE(servers.state().members.at(0).peer_port, 1);
}

TEST(SlowServers, ATargetIsLookedAtWhileItMakesItsCheckpoint) {
  Stops stops("preparing");
  Servers servers;
  servers.begin(0);
  servers.begin(1, stops.hook());
  std::jthread moves([&] { servers.move(0, 1, 0.5, /*indirection=*/false); });
  stops.wait();
  EXPECT_TRUE(servers.member(1).status().at("receives").is_null());
  stops.go_on();
}

// Its migration's thread has not ended yet, and uses what answers use.
TEST(SlowServers, AServerThatEndsAnswersNobody) {
  Stops stops("prepared");
  Servers servers;
  servers.begin(0, stops.hook());
  servers.begin(1);
  servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/false, patience());
  stops.wait();
  const std::unique_ptr<Asking> asks = servers.connect(0);
  std::jthread ends([&] { servers.end(0); });
  const auto is_silent = [&] {
    try {
      asks->ask(ClusterMessageType::kPrepare, nlohmann::json::object(), Deadline::after_seconds(2));
    } catch (const Refusal&) {  // a range is about to leave
    } catch (const NoAnswer&) {
      return true;
    }
    return false;
  };
  EXPECT_NO_THROW(wait_until(is_silent, "silence"));
  stops.go_on();
}

// The metadata service keeps neither OWN nor CANCEL for a while: the range has its source again
// once the cancel is kept, and not before.
TEST(SlowServers, ARefusedCancelIsAskedAgain) {
  Servers servers;
  servers.begin(0, [&](std::string_view step) {
    if (step == "kept") servers.keep_states(false);
  });
  servers.begin(1);
  servers.fill(0);
  servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/false, patience());
  const auto departure = [&] { return servers.departure(0); };
  const auto is_refused = [&] {
    return departure().value("why", "").find("cannot be kept") != std::string::npos;
  };
  wait_until(is_refused, "the refusal");
  EXPECT_TRUE(servers.state().migration);
  servers.keep_states(true);
  wait_until([&] { return !servers.state().migration; }, "the cancel");
  wait_until([&] { return departure().at("step") == "cancelled"; }, "its end");
  EXPECT_EQ(servers.state().view, View::equal(1));
  EXPECT_EQ(servers.member(0).served(), View::equal(1));
}

TEST(SlowServers, AServerWhoseMigrationIsRefusedIsFreeForAnother) {
  constexpr int kRounds = 100;
  Servers servers(/*owners=*/2);
  servers.begin(0);
  servers.begin(1);
  const nlohmann::json others = {
      {"id", 1}, {"first", UINT64_MAX - 9}, {"last", UINT64_MAX}, {"target", 1}};
  const std::unique_ptr<Asking> asks = servers.connect(0);
  for (int round = 0; round < kRounds; ++round) {
    try {
      asks->ask(ClusterMessageType::kMigrate, others, patience());
      FAIL();
    } catch (const Refusal& refusal) {
      ASSERT_NE(std::string(refusal.what()).find("does not own all"), std::string::npos)
          << refusal.what();
    }
  }
}

// Its answer was lost: while it is prepared, when it is complete, and when the range is back again.
TEST(SlowServers, AMigrationThatIsAskedForAgainIsNotBegunOnceMore) {
  Stops stops("prepare");
  Servers servers;
  servers.begin(0, stops.hook());
  servers.begin(1);
  const View before = servers.state().view;
  const hybridlog::HashRange range = before.share_of(0, 0.5).value();
  const nlohmann::json asked = {
      {"id", 1}, {"first", range.first}, {"last", range.last}, {"target", 1}};
  {
    const std::unique_ptr<Asking> lost = servers.connect(0);
    const auto question = lost->begin(ClusterMessageType::kMigrate, asked);
    stops.wait();
  }
  const std::unique_ptr<Asking> asks = servers.connect(0);
  const std::unique_ptr<Asking::Asked> again = asks->begin(ClusterMessageType::kMigrate, asked);
  EXPECT_FALSE(again->wait(Deadline::after_seconds(0.5)));  // nor a refusal
  stops.go_on();
  const std::optional<Asking::Answer> answer = again->wait(patience());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->json.at("id"), 1);
  wait_until([&] { return servers.departure(0).at("step") == "complete"; }, "its end");
  EXPECT_EQ(asks->ask(ClusterMessageType::kMigrate, asked, patience()).at("id"), 1);
  servers.move(1, 0, 1, /*indirection=*/false);
  EXPECT_EQ(asks->ask(ClusterMessageType::kMigrate, asked, patience()).at("id"), 1);
  servers.end(0);
  servers.begin(0);  // it knows nothing of it
  EXPECT_THROW(servers.ask(0, ClusterMessageType::kMigrate, asked), Refusal);
  EXPECT_EQ(servers.state().last_migration, 2U);
  EXPECT_TRUE(servers.state().view.is_owner(0, range));
}

// While it is being prepared, and when it is complete.
TEST(SlowServers, AMigrationThatIsAskedForAgainInAnotherWayIsRefused) {
  Stops stops("prepare");
  Servers servers;
  servers.begin(0, stops.hook());
  servers.begin(1);
  const hybridlog::HashRange range = servers.state().view.share_of(0, 0.5).value();
  const nlohmann::json asked = {{"id", 1},     {"first", range.first}, {"last", range.last},
                                {"target", 1}, {"sample_s", 0},        {"indirection", false}};
  const std::unique_ptr<Asking> asks = servers.connect(0);
  const auto first = asks->begin(ClusterMessageType::kMigrate, asked);
  stops.wait();
  const auto expect_refused = [&](const char* option, const nlohmann::json& value) {
    nlohmann::json in_another_way = asked;
    in_another_way[option] = value;
    try {
      asks->ask(ClusterMessageType::kMigrate, in_another_way, patience());
      ADD_FAILURE() << option;
    } catch (const Refusal& refusal) {
      const std::string why = refusal.what();
      EXPECT_NE(why.find("\"" + std::string(option) + "\":" + value.dump()), std::string::npos)
          << why;
    }
  };
  expect_refused("sample_s", 0.5);
  expect_refused("indirection", true);
  stops.go_on();
  EXPECT_TRUE(first->wait(patience()));
  wait_until([&] { return servers.departure(0).at("step") == "complete"; }, "its end");
  expect_refused("indirection", true);
  EXPECT_EQ(asks->ask(ClusterMessageType::kMigrate, asked, patience()).at("id"), 1);
}

// Each begins as soon as the one before is over, whoever has asked for that.
TEST(SlowServers, TwoThreadsMayAskForMigrations) {
  constexpr int kRounds = 50;
  Servers servers;
  servers.begin(0);
  servers.begin(1);
  servers.keep_states(false);  // so that all are refused
  const auto ask = [&] {
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_THROW(
          servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/false, patience()),
          Refusal);
    }
  };
  {
    const std::jthread other(ask);
    ask();
  }
  servers.keep_states(true);
  servers.move(0, 1, 0.5, /*indirection=*/false);
}

// Reads and additions of what it has end with an error after some time, and go on when it is there
// again.
TEST(SlowServers, WhatADeadSourceHasIsAnError) {
  Servers servers;
  servers.give_up_after(500ms);
  servers.begin(0);
  servers.begin(1, {}, 1h);
  servers.fill(0);
  servers.move(0, 1, 0.5, /*indirection=*/true);
  const std::vector<std::uint64_t> keys = servers.keys_of(1, 2);
  servers.end(0);
  {
    Client client(servers.store(1));
    EXPECT_EQ(settled(client, client.read(keys[0])).status, Status::kIoError);
    EXPECT_EQ(settled(client, {client.add(keys[1], 1)}).status, Status::kIoError);
  }
  servers.begin(0);
  // A busy machine is silent for so long, too.
  for (const std::uint64_t key : servers.keys_of(1, 20)) {
    Session::Answer answer{};
    const auto is_read = [&] {
      Client client(servers.store(1));
      answer = settled(client, client.read(key));
      return answer.status != Status::kIoError;
    };
    wait_until(is_read, "the source");
    EXPECT_EQ(answer.status, Status::kOk) << key;
    EXPECT_EQ(answer.value, (key & 0xFFU) * 0x0101010101010101U) << key;
  }
}

// Server 0 has stopped before it sends records of a migration to server 1, which waits 500 ms.
void begin_and_stop(Servers& servers, Stops& stops) {
  servers.give_up_after(500ms);
  servers.begin(0, stops.hook());
  servers.begin(1);
  servers.fill(0);
  servers.member(0).migrate(1, 0.5, /*sample_s=*/0, /*indirection=*/false, patience());
  stops.wait();
}

TEST(SlowServers, RecordsThatNobodySendsAreAnError) {
  Stops stops("move");
  Servers servers;
  begin_and_stop(servers, stops);
  const std::vector<std::uint64_t> keys = servers.keys_of(1, 3);
  {
    Client client(servers.store(1));
    EXPECT_EQ(settled(client, client.read(keys[0])).status, Status::kIoError);
    EXPECT_EQ(settled(client, {client.add(keys[1], 1)}).status, Status::kIoError);
    EXPECT_EQ(client.upsert(keys[2], (keys[2] & 0xFFU) * 0x0101010101010101U), Status::kOk);
  }
  stops.go_on();
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
  Late never({});
  expect_values(servers, 1, kKeys / 4, never);
}

// What clients write meanwhile survives the target's death, too.
TEST(SlowServers, ATargetWhoseSourceIsGoneMakesCheckpoints) {
  Late never({});
  Stops stops("move");
  Servers servers;
  begin_and_stop(servers, stops);
  const std::uint64_t key = servers.keys_of(1, 1).front();
  const std::uint64_t value = (key & 0xFFU) * 0x0101010101010101U;
  {
    Client client(servers.store(1));
    ASSERT_EQ(client.upsert(key, value), Status::kOk);
  }
  wait_until([&, before = servers.checkpoints(1)] { return servers.checkpoints(1) > before + 1; },
             "checkpoints");
  servers.end(1);
  servers.begin(1);
  {
    Client client(servers.store(1));
    const Session::Answer answer = settled(client, client.read(key));
    EXPECT_EQ(answer.status, Status::kOk);
    EXPECT_EQ(answer.value, value);
  }
  stops.go_on();
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
  expect_values(servers, 1, kKeys / 4, never);
}

// Its client is gone, too, and its serial number counts it: it is made once the records have come,
// although the target was killed meanwhile.
TEST(SlowServers, AnAdditionThatWaitsForADeadSourceIsInTheCheckpoint) {
  Stops stops("move");
  Servers servers;
  begin_and_stop(servers, stops);
  const std::vector<std::uint64_t> keys = servers.keys_of(1, 2);
  {
    Client client(servers.store(1));
    ASSERT_EQ(client.upsert(keys[1], 9), Status::kOk);
    const auto waits = [&] {
      servers.store(1).awaited().heard();
      return client.add(keys[0], 7) == Status::kPending;
    };
    wait_until(waits, "an addition that waits");
  }
  wait_until([&, before = servers.checkpoints(1)] { return servers.checkpoints(1) > before + 1; },
             "checkpoints");
  servers.end(1);
  servers.begin(1);
  stops.go_on();
  wait_until([&] { return !servers.state().migration; }, "the end of the migration");
  Client client(servers.store(1));
  const std::uint64_t sent = (keys[0] & 0xFFU) * 0x0101010101010101U;
  EXPECT_EQ(settled(client, client.read(keys[0])).value, sent + 7);
  EXPECT_EQ(settled(client, client.read(keys[1])).value, 9U);
}

// All that it sends is in one message, for which it looks at many pages.
TEST(SlowServers, ASourceThatLooksForRecordsIsNotSilent) {
  Servers servers;
  servers.give_up_after(2s);
  servers.begin(0, [](std::string_view step) {
    if (step == "page") std::this_thread::sleep_for(300ms);
  });
  servers.begin(1);
  servers.fill(0);
  const std::uint64_t first = servers.keys_of(0, 1).front();  // its page is the last
  servers.member(0).migrate(1, 1, /*sample_s=*/0, /*indirection=*/false, patience());
  wait_until([&] { return servers.member(1).status().at("receives") == 1; }, "the first message");
  Client client(servers.store(1));
  EXPECT_EQ(settled(client, client.read(first)).status, Status::kOk);
}

// So does one of whose index few chains are in the range: all are in one message.
TEST(SlowServers, ASourceThatLooksForChainsIsNotSilent) {
  Servers servers;
  servers.give_up_after(2s);
  servers.have_buckets(16'384);
  servers.begin(0, [](std::string_view step) {
    if (step == "chains") std::this_thread::sleep_for(300ms);
  });
  servers.begin(1);
  servers.fill(0);
  servers.member(0).migrate(1, 0.02, /*sample_s=*/0, /*indirection=*/true, patience());
  wait_until([&] { return servers.member(1).status().at("receives") == 1; }, "the first message");
  Client client(servers.store(1));
  const std::uint64_t last = servers.keys_of(1, 20).back();  // memory of the source has it not
  EXPECT_EQ(settled(client, client.read(last)).status, Status::kOk);
}

// What it would send points on, and nobody has that.
TEST(SlowServers, ARangeStaysWhoseRecordsADeadServerHas) {
  Servers servers;
  servers.give_up_after(500ms);
  for (const ServerNumber each : {0, 1, 2}) servers.begin(each);
  servers.fill(0);
  servers.move(0, 1, 0.5, /*indirection=*/true);
  servers.end(0);
  servers.member(1).migrate(2, 1, /*sample_s=*/0, /*indirection=*/true, patience());
  const auto departure = [&] { return servers.departure(1); };
  wait_until([&] { return departure().at("step") == "cancelled"; }, "its end");
  EXPECT_NE(departure().at("why").get<std::string>().find("does not answer"), std::string::npos);
  servers.begin(0);
  servers.move(1, 2, 1, /*indirection=*/true);
}

}  // namespace
}  // namespace turntable::shadowfax
