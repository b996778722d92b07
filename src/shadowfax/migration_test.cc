// Ranges that move between two servers under load, while each process is killed at each step: sums
// of additions are exact, and every key has one owner.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/key_hash.h"
#include "shadowfax/client/router.h"
#include "shadowfax/server/store_server.h"
#include "shadowfax/testing_processes.h"
#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

using testing::Cluster;

constexpr std::uint64_t kKeys = 3000;        // 72 kB, in pages of 4 KiB
constexpr std::uint64_t kManyKeys = 25'000;  // 1.1 MB and more, of which memory has 1 MB
constexpr std::size_t kLonger = 40;  // bytes of the values as which every second client begins keys
constexpr double kPatience = 180;    // of a machine that has other things to do
constexpr hybridlog::HashRange kMoved{0, UINT64_MAX / 4};
constexpr hybridlog::HashRange kOther{UINT64_MAX / 4 + 1, UINT64_MAX / 2};

void wait_until(const std::function<bool()>& condition, const char* what) {
  const Deadline deadline = Deadline::after_seconds(kPatience);
  while (!condition()) {
    if (deadline.passed()) throw std::runtime_error(std::string("never: ") + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Adds to keys at random, and knows how much; reads some, too. Of a thread of its own.
class Load : private Router::Replies {
 public:
  // Keys from `first` on are its own alone, unless that is 0.
  Load(Cluster& cluster, std::uint64_t number, std::uint64_t first = 0, std::uint64_t keys = kKeys)
      : directory_(cluster.metadata_address(),
                   cluster.credentials("client " + std::to_string(number)),
                   Deadline::after_seconds(kPatience)),
        router_({.session = {.batch_requests = 50,
                             .most_kept = 200,
                             .id = {number, 1 + first},
                             .value_bytes = number % 2 == 0 ? kLonger : kFewestValueBytes},
                 .worker = number},
                directory_),
        number_(number),
        first_(first),
        keys_(keys) {}
  ~Load() override { stop_at_once(); }

  void begin() {
    thread_ = std::jthread([this] { work(); });
  }
  // Until all additions are acknowledged.
  void finish() {
    is_over_ = true;
    wait_until([this] { return has_ended_.load(); }, "all answers");
    thread_.join();
  }
  // As one that is killed: what is under way stays so.
  void stop_at_once() {
    is_killed_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::uint64_t acknowledged() const { return acknowledged_; }
  const std::map<std::uint64_t, std::uint64_t>& issued() const { return issued_; }

 private:
  void work() {
    workload::Random random(number_);
    // What was heard before the end says nothing of a server that has died since.
    for (bool is_over = false; !is_killed_ && !(is_over && router_.is_idle());) {
      is_over = is_over_;
      for (int i = 0; i < 100 && !is_over; ++i) {
        const std::uint64_t key = first_ + random.next() % keys_;
        if (!router_.has_room(key)) break;
        if (random.next() % 4 == 0) {
          router_.add({Opcode::kRead, key, 0});
          continue;
        }
        router_.add({Opcode::kAdd, key, 1});
        ++issued_[key];
      }
      if (is_over) router_.flush();
      router_.wait(*this, 1);
    }
    has_ended_ = true;
  }

  void done(const Reply& reply, std::uint64_t /*context*/) override {
    if (reply.opcode == Opcode::kRead) {
      // Other clients' values may be longer than this one's.
      const bool may_be_longer = reply.status == ReplyStatus::kWrongSize && number_ % 2 != 0;
      EXPECT_TRUE(reply.status == ReplyStatus::kOk || reply.status == ReplyStatus::kNotFound ||
                  may_be_longer);
      return;
    }
    EXPECT_EQ(reply.status, ReplyStatus::kOk);
    ++acknowledged_;
  }
  void recovered(Opcode opcode, std::uint64_t) override {
    if (opcode == Opcode::kAdd) ++acknowledged_;
  }

  Directory directory_;
  Router router_;
  const std::uint64_t number_, first_, keys_;
  std::map<std::uint64_t, std::uint64_t> issued_;
  std::atomic<std::uint64_t> acknowledged_{0};
  std::atomic<bool> is_over_{false}, is_killed_{false}, has_ended_{false};
  std::jthread thread_;
};

// All keys' values, as their owners say.
class Reader : private Router::Replies {
 public:
  explicit Reader(Cluster& cluster)
      : directory_(cluster.metadata_address(), cluster.credentials("reader"),
                   Deadline::after_seconds(kPatience)),
        router_({.session = {.most_kept = 200, .id = {99, ++readers_}, .value_bytes = kLonger},
                 .worker = 0},
                directory_) {}

  std::map<std::uint64_t, std::uint64_t> read(std::uint64_t first, std::uint64_t count) {
    const auto go_on_until = [this](const std::function<bool()>& condition) {
      wait_until([&] { return condition() || (router_.wait(*this, 1), condition()); }, "values");
    };
    for (std::uint64_t key = first; key < first + count; ++key) {
      go_on_until([&] { return router_.has_room(key); });
      router_.add({Opcode::kRead, key, 0}, key);
    }
    router_.flush();
    go_on_until([&] { return router_.outstanding() == 0; });
    return values_;
  }

 private:
  void done(const Reply& reply, std::uint64_t context) override {
    if (reply.status == ReplyStatus::kOk) values_[context] = reply.value;
  }

  static inline std::uint64_t readers_ = 0;  // a session ends some time after its client

  Directory directory_;
  Router router_;
  std::map<std::uint64_t, std::uint64_t> values_;
};

// Requests, one after the other.
class Requests : private Router::Replies {
 public:
  explicit Requests(Cluster& cluster, std::size_t value_bytes = kFewestValueBytes)
      : directory_(cluster.metadata_address(), cluster.credentials("requests"),
                   Deadline::after_seconds(kPatience)),
        router_({.session = {.batch_requests = kBatchBytes / (Request::kValueAt + value_bytes),
                             .most_kept = 200,
                             .id = {98, 1},
                             .value_bytes = value_bytes},
                 .worker = 0},
                directory_) {}

  void send(const Request& request) {
    go_on_until([&] { return router_.has_room(request.key); });
    router_.add(request);
  }
  void finish() {
    router_.flush();
    router_.wait(*this, 0);
    go_on_until([&] { return router_.is_idle(); });
  }

 private:
  static constexpr std::size_t kBatchBytes = std::size_t{32} << 10U;

  void go_on_until(const std::function<bool()>& condition) {
    wait_until([&] { return condition() || (router_.wait(*this, 1), condition()); }, "answers");
  }
  void done(const Reply& reply, std::uint64_t /*context*/) override {
    EXPECT_EQ(reply.status, ReplyStatus::kOk);
  }

  Directory directory_;
  Router router_;
};

// The metadata service, and what servers are asked.
class Operator {
 public:
  explicit Operator(Cluster& cluster) : cluster_(cluster) { begin(); }

  // After a metadata service was begun again.
  void begin() {
    metadata_ = std::make_unique<Asking>("metadata", cluster_.metadata_address(),
                                         cluster_.credentials("operator"));
  }
  ClusterState state() {
    return state_of(metadata_->ask(ClusterMessageType::kGet, nlohmann::json::object(),
                                   Deadline::after_seconds(kPatience)));
  }
  // Returns at once; that it was begun, or refused, is not waited for.
  std::jthread migrate(hybridlog::HashRange range, ServerNumber from, ServerNumber to,
                       double sample_s = 0, bool indirection = false) {
    const ClusterState now = state();
    return std::jthread([this, now, range, from, to, sample_s, indirection] {
      try {
        ask_to_migrate(now, range, from, to, sample_s, indirection, 3);
      } catch (const NoAnswer&) {
        // It was killed.
      }
    });
  }
  // Why it was refused; empty: it has begun.
  std::string refusal(hybridlog::HashRange range, ServerNumber from, ServerNumber to,
                      double sample_s = 0, bool indirection = false) {
    try {
      ask_to_migrate(state(), range, from, to, sample_s, indirection, kPatience);
    } catch (const Refusal& refusal) {
      return refusal.what();
    }
    return "";
  }
  bool begin_to_migrate(hybridlog::HashRange range, ServerNumber from, ServerNumber to,
                        double sample_s = 0) {
    return refusal(range, from, to, sample_s).empty();
  }
  // What is under way.
  void cancel() {
    metadata_->ask(ClusterMessageType::kCancel, {{"id", state().migration.value().id}},
                   Deadline::after_seconds(kPatience));
  }
  nlohmann::json status(ServerNumber server) {
    const Member at = state().members.at(server);
    return Asking("server", net::parse_ipv4("", at.address, at.peer_port),
                  cluster_.credentials("operator of a server"))
        .ask(ClusterMessageType::kStatus, nlohmann::json::object(),
             Deadline::after_seconds(kPatience));
  }
  // That it pulls what it points to in logs of others; until it answers.
  void ask_to_resolve(ServerNumber server, double patience_s = kPatience) {
    const Member at = state().members.at(server);
    Asking("server", net::parse_ipv4("", at.address, at.peer_port),
           cluster_.credentials("operator of a server"))
        .ask(ClusterMessageType::kResolve, nlohmann::json::object(),
             Deadline::after_seconds(patience_s));
  }
  void resolve(ServerNumber server) {
    ask_to_resolve(server);
    wait_until([&] { return !state().has_unresolved(server); }, "all that it points to");
  }
  void wait_for_the_end(std::uint64_t migration) {
    wait_until(
        [&] {
          const ClusterState now = state();
          return now.last_migration >= migration && !now.migration;
        },
        "the end of the migration");
  }

 private:
  void ask_to_migrate(const ClusterState& now, hybridlog::HashRange range, ServerNumber from,
                      ServerNumber to, double sample_s, bool indirection, double patience_s) {
    const Member& at = now.members.at(from);
    Asking("source", net::parse_ipv4("", at.address, at.peer_port),
           cluster_.credentials("operator of a source"))
        .ask(ClusterMessageType::kMigrate,
             {{"id", now.next_id()},
              {"first", range.first},
              {"last", range.last},
              {"target", to},
              {"sample_s", sample_s},
              {"indirection", indirection}},
             Deadline::after_seconds(patience_s));
  }

  Cluster& cluster_;
  std::unique_ptr<Asking> metadata_;
};

void expect_exact(Cluster& cluster, const std::vector<const Load*>& loads,
                  std::uint64_t keys = kKeys) {
  std::map<std::uint64_t, std::uint64_t> expected;
  for (const Load* const load : loads)
    for (const auto& [key, count] : load->issued()) expected[key] += count;
  const std::map<std::uint64_t, std::uint64_t> found = Reader(cluster).read(0, keys);
  int shown = 0;
  for (std::uint64_t key = 0; key < keys && shown < 8; ++key) {
    const auto is = [key](const auto& values) {
      const auto at = values.find(key);
      return at == values.end() ? std::string("none") : std::to_string(at->second);
    };
    if (is(found) == is(expected)) continue;
    ++shown;
    ADD_FAILURE() << "key " << key << (kMoved.contains(hybridlog::hash_of(key)) ? ", moved," : "")
                  << " is " << is(found) << "; expected " << is(expected);
  }
}

void move_there_and_back(double sample_s) {
  Cluster cluster;
  cluster.start(0);
  cluster.start(1);
  Operator op(cluster);
  Load one(cluster, 1), other(cluster, 2);
  one.begin();
  other.begin();
  const std::uint64_t enough = 20'000;
  wait_until([&] { return one.acknowledged() > enough; }, "load");
  for (std::uint64_t round = 0; round < 4; ++round) {
    const auto from = static_cast<ServerNumber>(round % 2);
    op.migrate(kMoved, from, 1 - from, sample_s).join();
    op.wait_for_the_end(round + 1);
    EXPECT_EQ(op.state().view.number(), round + 2);
    EXPECT_TRUE(op.state().view.is_owner(1 - from, kMoved));
    // What is sampled is there when the range is owned.
    const std::uint64_t sampled = op.status(from)["departure"].value("sampled", std::uint64_t{0});
    EXPECT_EQ(op.status(1 - from)["staged"], sampled);
    EXPECT_EQ(sampled > 0, sample_s > 0);
    const std::uint64_t before = one.acknowledged();
    wait_until([&] { return one.acknowledged() > before + 1000; }, "load after the migration");
  }
  one.finish();
  other.finish();
  expect_exact(cluster, {&one, &other});
}

TEST(Migration, ThereAndBackUnderLoad) {
  move_there_and_back(/*sample_s=*/0);
}

TEST(Migration, ThereAndBackUnderLoadSampled) {
  move_there_and_back(/*sample_s=*/0.1);
}

// Each time the source pulls first what it was pointed to before.
TEST(Migration, ThereAndBackWithIndirectionsUnderLoad) {
  Cluster cluster;
  for (const ServerNumber server : {0, 1, 2}) cluster.start(server);
  Operator op(cluster);
  Load one(cluster, 1, 0, kManyKeys), other(cluster, 2, 0, kManyKeys);
  one.begin();
  other.begin();
  wait_until([&] { return one.acknowledged() > 2 * kManyKeys; }, "load");
  const ServerNumber stations[] = {0, 1, 0, 1, 2, 0};
  std::uint64_t indirections = 0;
  for (std::uint64_t round = 0; round + 1 < std::size(stations); ++round) {
    const ServerNumber from = stations[round], to = stations[round + 1];
    op.migrate(kMoved, from, to, /*sample_s=*/0.02, /*indirection=*/true).join();
    op.wait_for_the_end(round + 1);
    EXPECT_TRUE(op.state().view.is_owner(to, kMoved));
    indirections += op.status(from)["departure"]["indirections"].get<std::uint64_t>();
    const std::uint64_t before = one.acknowledged();
    wait_until([&] { return one.acknowledged() > before + kManyKeys; }, "load after it");
  }
  one.finish();
  other.finish();
  EXPECT_GT(indirections, kManyKeys / 4);  // of the first one alone
  expect_exact(cluster, {&one, &other}, kManyKeys);
  op.resolve(stations[std::size(stations) - 1]);
  expect_exact(cluster, {&one, &other}, kManyKeys);
}

// Logs are not compacted, so nobody pulls anything.
TEST(Migration, WhatIsPointedToIsFetched) {
  Cluster cluster(/*compact_above_mb=*/0);
  cluster.start(0);
  cluster.start(1);
  Operator op(cluster);
  Load one(cluster, 1, 0, kManyKeys), other(cluster, 2, 0, kManyKeys);
  one.begin();
  other.begin();
  wait_until([&] { return one.acknowledged() > 2 * kManyKeys; }, "load");
  one.finish();
  other.finish();
  op.migrate(kMoved, 0, 1, 0, /*indirection=*/true).join();
  op.wait_for_the_end(1);
  ASSERT_EQ(op.state().unresolved.size(), 1U);
  expect_exact(cluster, {&one, &other}, kManyKeys);
  // A quarter of the keys moves; a part of them memory of 1 MB does not have.
  const auto fetched = op.status(1)["fetched"].get<std::uint64_t>();
  EXPECT_GT(fetched, kManyKeys / 50);
  EXPECT_LE(fetched, kManyKeys / 4 * 11 / 10);
  expect_exact(cluster, {&one, &other}, kManyKeys);
  // They are the target's own now, but for a few that it could not write then.
  EXPECT_LE(op.status(1)["fetched"], fetched + fetched / 100);
  // The target comes back, and knows what it points to.
  cluster.server(1).kill();
  cluster.start(1);
  expect_exact(cluster, {&one, &other}, kManyKeys);
  op.resolve(1);
  cluster.server(0).kill();  // it is not needed any more
  cluster.start(0);
  expect_exact(cluster, {&one, &other}, kManyKeys);
}

// While the source is not there, operations on what it has wait.
TEST(Migration, ATargetWaitsForItsSourceWithWhatThatHas) {
  Cluster cluster(/*compact_above_mb=*/0);
  cluster.start(0);
  cluster.start(1);
  Operator op(cluster);
  Load one(cluster, 1, 0, kManyKeys), other(cluster, 2, 0, kManyKeys);
  one.begin();
  wait_until([&] { return one.acknowledged() > 3 * kManyKeys; }, "load");
  op.migrate(kMoved, 0, 1, 0, /*indirection=*/true).join();
  op.wait_for_the_end(1);
  cluster.server(0).kill();
  other.begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  cluster.start(0);
  wait_until([&] { return other.acknowledged() > kManyKeys; }, "load");
  EXPECT_GT(op.status(1)["fetched"], 0);
  one.finish();
  other.finish();
  expect_exact(cluster, {&one, &other}, kManyKeys);
}

// However long it is, and also after a crash, until the target has pulled what it points to.
TEST(Migration, ALogThatIsPointedIntoKeepsItsBegin) {
  Cluster cluster;
  cluster.start(0);
  cluster.start(1, "resolve");
  Operator op(cluster);
  Requests requests(cluster);
  // Together they are more than memory has, so chains go on on the device.
  Load one(cluster, 1, 0, kManyKeys), other(cluster, 2, 1'000'000, 2 * kManyKeys);
  one.begin();
  other.begin();
  wait_until([&] { return one.acknowledged() > kManyKeys && other.acknowledged() > 2 * kManyKeys; },
             "load");
  op.migrate(kMoved, 0, 1, 0, /*indirection=*/true).join();
  wait_until([&] { return cluster.server(1).is_stopped(); }, "resolve");
  one.stop_at_once();
  other.stop_at_once();
  ASSERT_EQ(op.state().unresolved.size(), 1U);
  const std::uint64_t begin = op.state().unresolved[0].log.begin;
  const auto begins_at = [&] { return op.status(0)["log"]["begin"].get<std::uint64_t>(); };
  const auto store_some = [&] {  // at the first server; it would compact its log soon
    for (std::uint64_t key = 3'000'000, i = 0; i < 40'000; ++key) {
      if (kMoved.contains(hybridlog::hash_of(key))) continue;
      requests.send({Opcode::kUpsert, key, key});
      ++i;
    }
    requests.finish();
  };
  store_some();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(begins_at(), begin);
  cluster.server(0).kill();
  cluster.start(0);
  store_some();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(begins_at(), begin);
  cluster.server(1).go_on();
  wait_until([&] { return op.state().unresolved.empty(); }, "all that it points to");
  wait_until([&] { return begins_at() > begin; }, "compaction");
}

// A range goes to another server, where all of its keys are deleted, and comes back. What the first
// one has of them is of an earlier time, and the other one's log is compacted meanwhile.
TEST(Migration, WhatWasDeletedElsewhereDoesNotComeBack) {
  constexpr std::uint64_t kFirst = 2'000'000, kCount = 500;
  Cluster cluster;
  cluster.start(0);
  cluster.start(1);
  Operator op(cluster);
  Requests requests(cluster);
  for (std::uint64_t key = kFirst; key < kFirst + kCount; ++key)
    requests.send({Opcode::kUpsert, key, key});
  requests.finish();
  op.migrate(kMoved, 0, 1).join();
  op.wait_for_the_end(1);
  std::map<std::uint64_t, std::uint64_t> stay;  // at the first server
  for (std::uint64_t key = kFirst; key < kFirst + kCount; ++key) {
    if (kMoved.contains(hybridlog::hash_of(key))) {
      requests.send({Opcode::kErase, key, 0});
    } else {
      stay[key] = key;
    }
  }
  requests.finish();
  const auto log_of = [&](ServerNumber server, const char* what) {
    return op.status(server)["log"][what].get<std::uint64_t>();
  };
  // The first server gets nothing to do: its log stays as it is.
  const std::uint64_t deleted = log_of(1, "tail");
  std::map<std::uint64_t, std::uint64_t> others;
  while (log_of(1, "begin") <= deleted) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      if (!kMoved.contains(hybridlog::hash_of(key))) continue;
      requests.send({Opcode::kAdd, key, 1});
      ++others[key];
    }
    requests.finish();
  }
  EXPECT_EQ(log_of(0, "begin"), hybridlog::kFirstAddress);
  op.migrate(kMoved, 1, 0).join();
  op.wait_for_the_end(2);
  EXPECT_EQ(Reader(cluster).read(kFirst, kCount), stay);
  EXPECT_EQ(Reader(cluster).read(0, kKeys), others);
}

// The target stops while it is sent the range: the source's log stays as it is, however long it is.
TEST(Migration, NoLogIsCompactedWhileARangeLeaves) {
  constexpr std::uint64_t kEnough = 3U << 20U;  // twice what memory has room for, and more
  Cluster cluster;
  cluster.start(0);
  cluster.start(1, "taken");
  Operator op(cluster);
  Requests requests(cluster);
  const std::jthread asks = op.migrate(kMoved, 0, 1);
  wait_until([&] { return cluster.server(1).is_stopped(); }, "taken");
  const auto log_of_source = [&] { return op.status(0)["log"]; };
  std::map<std::uint64_t, std::uint64_t> stored;
  for (std::uint64_t key = 0; log_of_source()["tail"] < kEnough;) {
    for (std::uint64_t i = 0; i < 10'000; ++key) {
      if (kMoved.contains(hybridlog::hash_of(key))) continue;
      requests.send({Opcode::kUpsert, key, key});
      stored[key] = key;
      ++i;
    }
    requests.finish();
  }
  for (int i = 0; i < 20; ++i) {  // it would be soon
    EXPECT_EQ(log_of_source()["begin"], hybridlog::kFirstAddress);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  cluster.server(1).go_on();
  op.wait_for_the_end(1);
  wait_until([&] { return log_of_source()["begin"] > kEnough / 2; }, "compaction");
  constexpr std::uint64_t kLooked = 10'000;
  stored.erase(stored.lower_bound(kLooked), stored.end());
  EXPECT_EQ(Reader(cluster).read(0, kLooked), stored);
}

// Clients know a view that the source has not heard of, and it owns the range in that one, too.
TEST(Migration, ASourceThatKnowsAnOldViewServesNothingAfterItsCut) {
  Cluster cluster;
  for (const ServerNumber server : {0, 1}) cluster.start(server);
  cluster.start(2, "kept");
  Operator op(cluster);
  op.migrate(kMoved, 0, 2).join();
  op.wait_for_the_end(1);
  wait_until([&] { return op.begin_to_migrate(kOther, 0, 1); }, "the end at the source");
  op.wait_for_the_end(2);
  Load one(cluster, 1);
  EXPECT_EQ(op.status(2)["view"], 2);
  EXPECT_EQ(op.state().view.number(), 3U);
  const std::jthread asks = op.migrate(kMoved, 2, 0);
  wait_until([&] { return cluster.server(2).is_stopped(); }, "kept");
  one.begin();
  wait_until([&] { return one.acknowledged() > 1000; }, "load of the other servers");
  cluster.server(2).go_on();  // it has batches by now
  op.wait_for_the_end(3);
  const std::uint64_t before = one.acknowledged();
  wait_until([&] { return one.acknowledged() > before + 1000; }, "load after the migration");
  one.finish();
  expect_exact(cluster, {&one});
}

// A source that has cut waits for its target, and has not heard that it was cancelled. Meanwhile
// another range is to come to it.
TEST(Migration, AfterACancelledCutTheViewIsAnotherOnes) {
  Cluster cluster;
  cluster.start(0, "sampling");
  cluster.start(1, "staged");
  cluster.start(2);
  Operator op(cluster);
  Load one(cluster, 1), other(cluster, 2);
  one.begin();
  other.begin();
  wait_until([&] { return one.acknowledged() > 5000; }, "load");
  op.migrate(kOther, 0, 2).join();
  op.wait_for_the_end(1);
  wait_until([&] { return op.begin_to_migrate(kMoved, 0, 1, /*sample_s=*/0.1); },
             "the end at the source");
  wait_until([&] { return cluster.server(0).is_stopped(); }, "sampling");
  op.cancel();
  cluster.server(0).go_on();
  wait_until([&] { return cluster.server(1).is_stopped(); }, "staged");
  if (!op.begin_to_migrate(kOther, 2, 0)) {  // as long as it has a cut to make
    wait_until([&] { return op.status(0)["departure"]["step"] == "cancelled"; }, "cancelled");
    EXPECT_TRUE(op.begin_to_migrate(kOther, 2, 0));
  }
  op.wait_for_the_end(3);
  cluster.server(1).go_on();
  const std::uint64_t before = one.acknowledged();
  wait_until([&] { return one.acknowledged() > before + 5000; }, "load after the migration");
  EXPECT_EQ(op.state().view, View(3, {{0, 0}}));
  one.finish();
  other.finish();
  expect_exact(cluster, {&one, &other});
}

// Its cut would wait for the records that arrive, and they for the cut.
TEST(Migration, AServerThatHasACutToMakeReceivesNothing) {
  Cluster cluster;
  for (const ServerNumber server : {0, 1, 2}) cluster.start(server);
  Operator op(cluster);
  op.migrate(kOther, 0, 2).join();
  op.wait_for_the_end(1);
  wait_until([&] { return op.begin_to_migrate(kMoved, 0, 1, /*sample_s=*/3600); },
             "the end at the source");
  wait_until([&] { return op.status(0)["departure"]["step"] == "sampling"; }, "sampling");
  op.cancel();
  EXPECT_FALSE(op.begin_to_migrate(kOther, 2, 0));
  cluster.server(0).kill();
  cluster.start(0);
  EXPECT_TRUE(op.begin_to_migrate(kOther, 2, 0));
  op.wait_for_the_end(3);
  EXPECT_TRUE(op.state().view.is_owner(0, kOther));
}

// What it has served since it was begun again no checkpoint has: where that lies may be something
// else after the next crash.
TEST(Migration, ASourceThatWasKilledPointsToWhatItHasRecovered) {
  constexpr std::uint64_t kPage = 4096, kManyOthers = 60'000;  // of 24 bytes: more than memory has
  Cluster cluster(/*compact_above_mb=*/0);
  cluster.start(0, "moving");
  cluster.start(1);
  Operator op(cluster);
  Load one(cluster, 1, 0, kManyKeys);
  one.begin();
  wait_until([&] { return one.acknowledged() > 2 * kManyKeys; }, "load");
  one.finish();
  const std::jthread asks = op.migrate(kMoved, 0, 1, 0, /*indirection=*/true);
  wait_until([&] { return cluster.server(0).is_stopped(); }, "moving");
  cluster.server(0).kill();
  const hybridlog::Address end = hybridlog::read_checkpoint(cluster.checkpoint_file(0)).value().end;

  const auto store_others = [&](std::uint64_t first) {  // in chains of keys that move, too
    Requests requests(cluster);
    for (std::uint64_t key = first, stored = 0; stored < kManyOthers; ++key) {
      if (kMoved.contains(hybridlog::hash_of(key))) continue;
      requests.send({Opcode::kUpsert, key, key});
      ++stored;
    }
    requests.finish();
  };
  std::promise<void> has_served;
  ClusterSettings member{
      .number = 0,
      .metadata = cluster.metadata_address(),
      .credentials = [&](const std::string& name) { return cluster.credentials(name); }};
  member.at_step = [goes_on = has_served.get_future().share()](const char* step) {
    if (std::string_view(step) == "resumed") goes_on.wait();
  };
  std::optional<StoreServer> source;
  source.emplace(StoreServer::Settings{
      .store = {.index_buckets = 256,
                .log = {.page_bits = 12, .pages = 256, .mutable_share = 0.5},
                .threads = 0},
      .file = cluster.log_file(0),
      .workers = 2,
      .checkpoints = {{.file = cluster.checkpoint_file(0), .interval = std::chrono::hours(1)}},
      .cluster = member});
  store_others(2'000'000);
  has_served.set_value();
  op.wait_for_the_end(1);
  ASSERT_EQ(op.state().unresolved.size(), 1U);
  EXPECT_LE(op.state().unresolved[0].log.until, (end + kPage - 1) / kPage * kPage);
  source.reset();
  cluster.start(0);
  store_others(3'000'000);
  expect_exact(cluster, {&one}, kManyKeys);
}

// Values of 10,000 bytes are more than half of the target's pages: it could never take them.
TEST(Migration, ATargetWhosePagesAreTooSmallIsRefused) {
  Cluster cluster;
  cluster.start(0, "never", /*page_bits=*/16);
  Requests requests(cluster, 10'000);
  for (std::uint64_t key = 0; key < 200; ++key)  // 2 MB, of which memory has 1
    requests.send({Opcode::kUpsert, key, key});
  requests.finish();
  cluster.start(1);
  Operator op(cluster);
  for (const bool indirection : {false, true}) {
    EXPECT_EQ(op.refusal(kMoved, 0, 1, 0, indirection),
              "server 1 takes values of at most 2048 bytes; expected 32768, as this server's may "
              "be: begin server 1 with --page-bits 16 or more, and with new files");
    EXPECT_EQ(op.state().last_migration, 0U);  // none has begun
  }
}

// Of times: the median and the longest.
void show(const char* what, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  std::printf("%-40s median %8.2f ms, longest %8.2f ms\n", what, ms[ms.size() / 2], ms.back());
}

void move_a_hundred_times(double sample_s) {
  Cluster cluster;
  cluster.start(0);
  cluster.start(1);
  Operator op(cluster);
  Load one(cluster, 1), other(cluster, 2);
  one.begin();
  other.begin();
  wait_until([&] { return one.acknowledged() > 20'000; }, "load");
  std::vector<double> refused, cut, complete, stalls;
  for (std::uint64_t round = 0; round < 100; ++round) {
    const auto from = static_cast<ServerNumber>(round % 2);
    std::atomic<bool> is_over{false};
    double longest_ms = 0;
    std::jthread watches([&] {
      std::int64_t since = monotonic_ns();
      for (std::uint64_t seen = 0; !is_over;) {
        const std::uint64_t now = one.acknowledged() + other.acknowledged();
        if (now != seen) {
          longest_ms = std::max(longest_ms, static_cast<double>(monotonic_ns() - since) / 1e6);
          since = monotonic_ns();
          seen = now;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    op.migrate(kMoved, from, 1 - from, sample_s).join();
    op.wait_for_the_end(round + 1);
    nlohmann::json steps;
    wait_until([&] { return (steps = op.status(from)["departure"])["step"] == "complete"; }, "end");
    is_over = true;
    watches.join();
    const auto between = [&](const char* first, const char* last) {
      return static_cast<double>(steps.at(last).get<std::int64_t>() -
                                 steps.at(first).get<std::int64_t>()) /
             1e6;
    };
    refused.push_back(between("cut_ns", "owned_ns"));
    cut.push_back(between("prepare_ns", "owned_ns"));
    complete.push_back(between("prepare_ns", "complete_ns"));
    stalls.push_back(longest_ms);
    ASSERT_TRUE(op.state().view.is_owner(1 - from, kMoved));
  }
  one.finish();
  other.finish();
  show("from the begin to the ownership cut", cut);
  show("of it, batches are refused at most", refused);
  show("from the begin to the end", complete);
  show("longest time without an answer", stalls);
  std::printf("%s additions acknowledged\n",
              std::to_string(one.acknowledged() + other.acknowledged()).c_str());
  expect_exact(cluster, {&one, &other});
}

// With --gtest_also_run_disabled_tests: a campaign, and how long the steps take.
TEST(Migration, DISABLED_AHundred) {
  move_a_hundred_times(/*sample_s=*/0);
}

TEST(Migration, DISABLED_AHundredSampled) {
  move_a_hundred_times(/*sample_s=*/0.1);
}

enum class Victim : std::uint8_t { kSource, kTarget, kMetadata, kClient };

struct Kill {
  const char* step;
  bool is_of_target;  // the step is
  Victim victim;
  bool indirection = false;
};

// NOLINTNEXTLINE(readability-identifier-naming): the name is what GoogleTest asks for
void PrintTo(const Kill& kill, std::ostream* out) {
  const char* const names[] = {"source", "target", "metadata", "client"};
  *out << names[static_cast<int>(kill.victim)] << " at " << kill.step
       << (kill.indirection ? ", indirections" : "");
}

// The range is the source's, and nothing has been said to the metadata service.
bool is_before_the_cut(std::string_view step) {
  const auto before = {"prepare", "prepared", "resolving", "sampling",
                       "cut",     "kept",     "sampled",   "staged"};
  return std::ranges::find(before, step) != before.end();
}

bool is_of_resolving(std::string_view step) {
  const auto steps = {"pull", "resolve", "pulled", "resolved", "covered", "told"};
  return std::ranges::find(steps, step) != steps.end();
}

class KilledAt : public ::testing::TestWithParam<Kill> {};

// The process is stopped at the step, and killed, or another one is. A source resolves before a
// second migration: the range was at the other server first, then.
TEST_P(KilledAt, SumsAreExactAndEveryKeyHasOneOwner) {
  const Kill kill = GetParam();
  const std::uint64_t keys = kill.indirection ? kManyKeys : kKeys;
  const bool is_second = std::string_view(kill.step) == "resolving";
  const ServerNumber source = is_second ? 1 : 0, target = 1 - source;
  const std::uint64_t migrations = is_second ? 2 : 1;
  Cluster cluster(is_second ? 0 : 1);  // without compaction nobody resolves sooner
  cluster.start(source, kill.is_of_target ? "never" : kill.step);
  cluster.start(target, kill.is_of_target ? kill.step : "never");
  Operator op(cluster);
  Load one(cluster, 1, 0, keys), other(cluster, 2, 0, keys);
  auto killed = std::make_unique<Load>(cluster, 3, /*first=*/1'000'000, keys);
  one.begin();
  other.begin();
  killed->begin();
  const std::uint64_t enough = kill.indirection ? keys : 5000;
  wait_until([&] { return one.acknowledged() > enough && killed->acknowledged() > enough; },
             "load");
  if (is_second) {
    op.migrate(kMoved, 0, 1, 0, kill.indirection).join();
    op.wait_for_the_end(1);
  }
  const std::jthread asks = op.migrate(kMoved, source, target, /*sample_s=*/0.02, kill.indirection);
  auto& stops = cluster.server(kill.is_of_target ? target : source);
  if (is_of_resolving(kill.step)) {
    op.wait_for_the_end(1);
    try {
      if (!stops.is_stopped()) op.ask_to_resolve(target, 2);
    } catch (const NoAnswer&) {
      // It has stopped meanwhile, for a log was too long.
    }
  }
  wait_until([&] { return stops.is_stopped(); }, kill.step);

  std::uint64_t acknowledged = 0, issued = 0;
  switch (kill.victim) {
    case Victim::kSource:
      cluster.server(source).kill();
      cluster.start(source);
      break;
    case Victim::kTarget:
      cluster.server(target).kill();
      cluster.start(target);
      break;
    case Victim::kMetadata:
      cluster.metadata().kill();
      cluster.start_metadata();
      op.begin();
      break;
    case Victim::kClient:
      killed->stop_at_once();
      acknowledged = killed->acknowledged();
      for (const auto& [key, count] : killed->issued()) issued += count;
      killed.reset();
      break;
  }
  if (!(kill.victim == Victim::kSource && !kill.is_of_target) &&
      !(kill.victim == Victim::kTarget && kill.is_of_target))
    stops.go_on();

  // Before the cut a killed source keeps the range; else the migration comes to its end.
  const std::string step = kill.step;
  const bool is_kept = kill.victim == Victim::kSource && is_before_the_cut(step);
  op.wait_for_the_end(step == "prepare" && is_kept ? 0 : migrations);
  const ServerNumber owner = is_kept ? source : target;
  EXPECT_TRUE(op.state().view.is_owner(owner, kMoved));
  EXPECT_EQ(op.state().view.number(), is_kept ? migrations : migrations + 1);

  const std::uint64_t before = one.acknowledged();
  wait_until([&] { return one.acknowledged() > before + 1000; }, "load after the migration");
  one.finish();
  other.finish();
  expect_exact(cluster, {&one, &other}, keys);
  if (killed) {
    killed->finish();
    for (const auto& [key, count] : killed->issued()) issued += count;
    acknowledged = issued;
  }
  std::uint64_t there = 0;
  for (const auto& [key, value] : Reader(cluster).read(1'000'000, keys)) there += value;
  EXPECT_GE(there, acknowledged);
  EXPECT_LE(there, issued);
  if (!kill.indirection) return;
  op.resolve(0);
  op.resolve(1);
  expect_exact(cluster, {&one, &other}, keys);
}

constexpr const char* kOfSource[] = {"prepare", "prepared", "sampling", "cut",  "kept",
                                     "sampled", "owned",    "moving",   "move", "moved"};
constexpr const char* kOfTarget[] = {"staged", "taken", "finish", "finished", "ended"};
// With indirections: these, and
constexpr const char* kOfSourceToo[] = {"resolving", "look", "pull"};
constexpr const char* kOfTargetToo[] = {"fetch",    "fetched", "resolve", "pulled",
                                        "resolved", "covered", "told"};

// Who is at the step is killed; and some others.
std::vector<Kill> some_kills() {
  std::vector<Kill> kills = {
      {"cut", false, Victim::kTarget},    {"sampled", false, Victim::kTarget},
      {"staged", true, Victim::kSource},  {"move", false, Victim::kTarget},
      {"taken", true, Victim::kSource},   {"finished", true, Victim::kSource},
      {"kept", false, Victim::kMetadata}, {"finish", true, Victim::kMetadata},
      {"cut", false, Victim::kClient},    {"taken", true, Victim::kClient}};
  for (const char* const step : kOfSource) kills.push_back({step, false, Victim::kSource});
  for (const char* const step : kOfTarget) kills.push_back({step, true, Victim::kTarget});
  return kills;
}

std::vector<Kill> all_kills() {
  std::vector<Kill> kills;
  for (const Victim victim :
       {Victim::kSource, Victim::kTarget, Victim::kMetadata, Victim::kClient}) {
    for (const char* const step : kOfSource) kills.push_back({step, false, victim});
    for (const char* const step : kOfTarget) kills.push_back({step, true, victim});
  }
  return kills;
}

// At steps that are reached whatever the machine does meanwhile; the others are among all.
std::vector<Kill> some_kills_with_indirections() {
  std::vector<Kill> kills = {
      {"taken", true, Victim::kTarget},
      {"fetched", true, Victim::kTarget},
      {"resolved", true, Victim::kTarget},
      {"covered", true, Victim::kMetadata},
  };
  for (Kill& kill : kills) kill.indirection = true;
  return kills;
}

std::vector<Kill> all_kills_with_indirections() {
  std::vector<Kill> kills = all_kills();
  for (const Victim victim :
       {Victim::kSource, Victim::kTarget, Victim::kMetadata, Victim::kClient}) {
    for (const char* const step : kOfSourceToo) kills.push_back({step, false, victim});
    for (const char* const step : kOfTargetToo) kills.push_back({step, true, victim});
  }
  for (Kill& kill : kills) kill.indirection = true;
  return kills;
}

INSTANTIATE_TEST_SUITE_P(Some, KilledAt, ::testing::ValuesIn(some_kills()));
INSTANTIATE_TEST_SUITE_P(SomeWithIndirections, KilledAt,
                         ::testing::ValuesIn(some_kills_with_indirections()));
// With --gtest_also_run_disabled_tests.
INSTANTIATE_TEST_SUITE_P(DISABLED_All, KilledAt, ::testing::ValuesIn(all_kills()));
INSTANTIATE_TEST_SUITE_P(DISABLED_AllWithIndirections, KilledAt,
                         ::testing::ValuesIn(all_kills_with_indirections()));

}  // namespace
}  // namespace turntable::shadowfax
