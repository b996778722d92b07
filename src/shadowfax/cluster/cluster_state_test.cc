#include "shadowfax/cluster/cluster_state.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/checked_file.h"
#include "common/scratch_directory.h"
#include "messages/link.h"
#include "net/event_loop.h"
#include "net/ipv4.h"
#include "net/testing_credentials.h"
#include "shadowfax/cluster/asking.h"
#include "shadowfax/cluster/metadata_server.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

// Of the servers' processes.
constexpr const char* kSource = "5";
constexpr const char* kTarget = "6";
constexpr const char* kAgain = "7";

ClusterState of_two() {
  ClusterState state;
  state.view = View::equal(2);
  state.enrol(
      0, {.address = "127.0.0.1", .ports = {1000, 1001}, .peer_port = 2000, .incarnation = kSource},
      "");
  state.enrol(
      1, {.address = "127.0.0.2", .ports = {1000}, .peer_port = 2001, .incarnation = kTarget}, "");
  return state;
}

Member begun_again() {
  return {.address = "127.0.0.1", .ports = {1002}, .peer_port = 2002, .incarnation = kAgain};
}

constexpr Migration kAsked{
    .id = 1, .range = {0, 99}, .source = 0, .target = 1, .receives_from = 4096};

TEST(ClusterState, AMigrationMovesItsRange) {
  ClusterState state = of_two();
  const std::uint64_t id = kAsked.id;
  EXPECT_EQ(state.next_id(), id);
  state.begin(kAsked, kSource);
  const ClusterState begun = state;
  state.begin(kAsked, kSource);  // asked again: nothing changes
  EXPECT_EQ(state, begun);
  EXPECT_EQ(state.view.owner_of(99), 0U);
  state.own(id, kSource);
  EXPECT_THROW(state.begin(kAsked, kSource), Refusal);  // its answer was heard
  state.own(id, kSource);
  EXPECT_EQ(state.view.number(), 2U);
  EXPECT_EQ(state.view.owner_of(99), 1U);
  EXPECT_EQ(state.view.owner_of(100), 0U);
  EXPECT_THROW(state.cancel(id), Refusal);
  state.complete(id, kTarget);
  state.complete(id, kTarget);
  EXPECT_FALSE(state.migration);
  Migration back = kAsked;
  std::swap(back.source, back.target);
  EXPECT_THROW(state.begin(back, kTarget), Refusal);  // the id was used
  back.id = 2;
  state.begin(back, kTarget);
  EXPECT_EQ(state.migration, back);
}

// Its source has given it up, or has died: nobody would move anything.
TEST(ClusterState, ALateBeginBeginsNothing) {
  ClusterState state = of_two();
  state.begin(kAsked, kSource);
  state.cancel(kAsked.id);
  EXPECT_THROW(state.begin(kAsked, kSource), Refusal);
  EXPECT_FALSE(state.migration);
  // One that has not come yet when it is cancelled.
  Migration late = kAsked;
  late.id = state.next_id();
  state.cancel(late.id, Asker{late.source, kSource});
  EXPECT_THROW(state.begin(late, kSource), Refusal);
  EXPECT_FALSE(state.migration);
  // Of two servers that ask for the same id one has it, and the other one does not cancel it.
  late.id = state.next_id();
  state.begin(late, kSource);
  state.cancel(late.id, Asker{1, kTarget});
  EXPECT_EQ(state.migration, late);
}

TEST(ClusterState, AServerThatIsThereAgainHasNothingPrepared) {
  ClusterState state = of_two();
  state.begin(kAsked, kSource);
  state.enrol(1, begun_again(), kTarget);  // the target: its source goes on
  EXPECT_EQ(state.migration, kAsked);
  state.enrol(0, begun_again(), kSource);
  EXPECT_FALSE(state.migration);
  EXPECT_THROW(state.own(kAsked.id, kSource), Refusal);
  // What the target owns goes forward.
  Migration next = kAsked;
  next.id = 2;
  state.begin(next, kAgain);
  state.own(next.id, kAgain);
  Member once_more = begun_again();
  once_more.incarnation = "8";
  state.enrol(0, once_more, kAgain);
  ASSERT_TRUE(state.migration);
  EXPECT_EQ(state.migration->phase, Migration::Phase::kOwned);
}

// Its answer was lost, so the same process asks again: what it has begun meanwhile stays.
TEST(ClusterState, AnEnrolThatIsAskedAgainChangesNothing) {
  ClusterState state = of_two();
  state.begin(kAsked, kSource);
  const ClusterState before = state;
  state.enrol(0, state.members.at(0), "");
  EXPECT_EQ(state, before);
}

// Of an earlier process, after a later one has enrolled.
TEST(ClusterState, ALateEnrolIsRefused) {
  ClusterState state;
  const Member late{
      .address = "127.0.0.1", .ports = {1000}, .peer_port = 2000, .incarnation = kSource};
  state.enrol(0, begun_again(), "");
  EXPECT_THROW(state.enrol(0, late, ""), Refusal);
  EXPECT_EQ(state.members.at(0), begun_again());
}

// Whatever it is: the server has been begun again since.
TEST(ClusterState, WhatAnEarlierIncarnationAsksForIsRefused) {
  const auto refused = [](ClusterState& state, ServerNumber again, const auto& ask) {
    state.enrol(again, begun_again(), state.incarnation_of(again));
    const ClusterState before = state;
    EXPECT_THROW(ask(), Refusal);
    EXPECT_EQ(state, before);
  };
  {
    ClusterState state = of_two();
    refused(state, 0, [&] { state.begin(kAsked, kSource); });
    refused(state, 0, [&] { state.cancel(kAsked.id, Asker{0, kSource}); });
  }
  ClusterState prepared = of_two();
  prepared.begin(kAsked, kSource);
  {
    ClusterState state = prepared;
    refused(state, 0, [&] { state.own(kAsked.id, kSource); });
  }
  ClusterState owned = prepared;
  owned.own(kAsked.id, kSource);
  {
    ClusterState state = owned;
    refused(state, 1, [&] { state.complete(kAsked.id, kTarget); });
    state.complete(kAsked.id, kAgain);
    EXPECT_FALSE(state.migration);
  }
  owned.complete(kAsked.id, kTarget, SourceLog{.begin = 64, .until = 8192});
  refused(owned, 1, [&] { owned.resolved(kAsked.id, kTarget); });
  owned.resolved(kAsked.id, kAgain);
  EXPECT_TRUE(owned.unresolved.empty());
}

// Nobody can be asked for its incarnation then: the next process of a server enrols all the same.
TEST(ClusterState, AnOlderStateHasNoIncarnations) {
  Json older = to_json(of_two());
  for (Json& each : older["members"]) each.erase("incarnation");
  ClusterState state = state_of(older);
  EXPECT_EQ(state.members.at(1).ports, of_two().members.at(1).ports);
  EXPECT_EQ(state.incarnation_of(1), "");
  EXPECT_THROW(state.begin(kAsked, kSource), Refusal);
  state.enrol(0, begun_again(), "");
  state.begin(kAsked, kAgain);
  EXPECT_TRUE(state.migration);
}

TEST(ClusterState, WhatIsCancelledStaysWhereItWas) {
  ClusterState state = of_two();
  const std::uint64_t id = kAsked.id;
  state.begin(kAsked, kSource);
  EXPECT_THROW(state.complete(id, kTarget), Refusal);
  state.cancel(id);
  state.cancel(id);
  EXPECT_EQ(state.view, View::equal(2));
  EXPECT_THROW(state.own(id, kSource), Refusal);
}

TEST(ClusterState, WhatDoesNotFitIsRefused) {
  const auto refused = [](Migration asked) {
    ClusterState state = of_two();
    asked.id = state.next_id();
    EXPECT_THROW(state.begin(asked, state.incarnation_of(asked.source)), Refusal);
    EXPECT_EQ(state, of_two());
  };
  refused({.range = {0, 99}, .source = 1, .target = 0});          // not its range
  refused({.range = {0, UINT64_MAX}, .source = 0, .target = 1});  // not all of it
  refused({.range = {99, 0}, .source = 0, .target = 1});
  refused({.range = {0, 99}, .source = 0, .target = 0});
  refused({.range = {0, 99}, .source = 0, .target = 2});  // has never been there
  ClusterState state = of_two();
  state.begin(kAsked, kSource);
  // One at a time.
  Migration another = kAsked;
  another.receives_from += 64;
  EXPECT_THROW(state.begin(another, kSource), Refusal);
  EXPECT_THROW(state.begin({.id = 2, .range = {5, 9}, .source = 0, .target = 1}, kSource), Refusal);
  for (const std::uint64_t id : {0, 3}) {
    EXPECT_THROW(state.own(id, kSource), Refusal);
    EXPECT_THROW(state.complete(id, kTarget), Refusal);
    EXPECT_THROW(state.cancel(id), Refusal);
  }
}

TEST(ClusterState, WhatIsPointedToStaysUntilItIsResolved) {
  ClusterState state = of_two();
  Migration asked = kAsked;
  asked.indirection = true;
  const std::uint64_t id = asked.id;
  state.begin(asked, kSource);
  EXPECT_THROW(state.resolved(id, kTarget), Refusal);  // it is under way
  state.own(id, kSource);
  const SourceLog log{.begin = 64, .until = 8192};
  state.complete(id, kTarget, log);
  state.complete(id, kTarget, log);
  const Unresolved expected{.id = id,
                            .range = kAsked.range,
                            .source = 0,
                            .target = 1,
                            .receives_from = kAsked.receives_from,
                            .log = log};
  EXPECT_EQ(state.unresolved, std::vector{expected});
  EXPECT_EQ(state_of(Json::parse(to_json(state).dump())), state);
  EXPECT_TRUE(state.has_unresolved(1));
  EXPECT_FALSE(state.has_unresolved(0));
  EXPECT_TRUE(state.has_unresolved(1, {99, 200}));
  EXPECT_FALSE(state.has_unresolved(1, {100, 200}));
  // The range does not move on before it is.
  const std::uint64_t on = state.next_id();
  state.begin({.id = on, .range = {50, 60}, .source = 1, .target = 0}, kTarget);
  EXPECT_THROW(state.own(on, kTarget), Refusal);
  state.resolved(id, kTarget);
  state.resolved(id, kTarget);
  EXPECT_TRUE(state.unresolved.empty());
  state.own(on, kTarget);
  EXPECT_EQ(state.view.owner_of(55), 0U);
}

// As it was written before there were indirections.
TEST(ClusterState, AnOlderStateHasNothingUnresolved) {
  ClusterState state = of_two();
  state.begin(kAsked, kSource);
  Json older = to_json(state);
  older.erase("unresolved");
  older["migration"].erase("indirection");
  EXPECT_EQ(state_of(older), state);
}

TEST(ClusterState, ItsJsonHasAllOfIt) {
  ClusterState state = of_two();
  EXPECT_EQ(state_of(to_json(state)), state);
  state.begin({.id = 1,
               .range = {UINT64_MAX - 5, UINT64_MAX},
               .source = 1,
               .target = 0,
               .receives_from = 7},
              kTarget);
  EXPECT_EQ(state_of(Json::parse(to_json(state).dump())), state);
  state.own(1, kTarget);
  EXPECT_EQ(state_of(to_json(state)), state);
  Json other = to_json(state);
  other["format"] = 2;
  EXPECT_THROW(state_of(other), std::invalid_argument);
}

// The service in a thread of its own, with what it keeps in a file.
class RunningMetadata {
 public:
  explicit RunningMetadata(const std::filesystem::path& directory)
      : server_(loop_, net::parse_ipv4("", "127.0.0.1", 0), net::testing::credentials("meta"),
                directory / "state.json", 2),
        thread_([this] { loop_.run(); }) {}
  ~RunningMetadata() {
    loop_.stop();
    thread_.join();
  }

  std::unique_ptr<Asking> asking(net::Credentials credentials = net::testing::credentials()) {
    return std::make_unique<Asking>("the metadata service", address(), std::move(credentials));
  }
  sockaddr_in address() const { return net::parse_ipv4("", "127.0.0.1", server_.port()); }

 private:
  net::EventLoop loop_;
  MetadataServer server_;
  std::thread thread_;
};

Deadline soon() {
  return Deadline::after_seconds(10);
}

Json member(ServerNumber server, const std::string& incarnation) {
  return {{"server", server}, {"incarnation", incarnation},
          {"replaces", ""},   {"address", "127.0.0.1"},
          {"ports", {1000}},  {"peer_port", 2000}};
}

TEST(Metadata, WhatWasAnsweredIsThereAfterwards) {
  const ScratchDirectory directory;
  {
    RunningMetadata metadata(directory.path());
    const auto asking = metadata.asking();
    asking->ask(ClusterMessageType::kEnrol, member(0, kSource), soon());
    asking->ask(ClusterMessageType::kEnrol, member(1, kTarget), soon());
    asking->ask(ClusterMessageType::kBegin,
                {{"id", 1},
                 {"incarnation", kSource},
                 {"first", 0},
                 {"last", 99},
                 {"source", 0},
                 {"target", 1},
                 {"receives_from", 64}},
                soon());
    EXPECT_THROW(
        asking->ask(ClusterMessageType::kComplete, {{"id", 1}, {"incarnation", kTarget}}, soon()),
        Refusal);
    asking->ask(ClusterMessageType::kOwn, {{"id", 1}, {"incarnation", kSource}}, soon());
  }
  RunningMetadata again(directory.path());
  const ClusterState state =
      state_of(again.asking()->ask(ClusterMessageType::kGet, Json::object(), soon()));
  EXPECT_EQ(state.view.number(), 2U);
  EXPECT_EQ(state.view.owner_of(99), 1U);
  ASSERT_TRUE(state.migration);
  EXPECT_EQ(state.migration->phase, Migration::Phase::kOwned);
  EXPECT_EQ(state.migration->receives_from, 64U);
}

TEST(Metadata, WhatMeansNothingIsRefused) {
  const ScratchDirectory directory;
  RunningMetadata metadata(directory.path());
  const auto asking = metadata.asking();
  EXPECT_THROW(asking->ask(ClusterMessageType::kOwn, Json::object(), soon()), Refusal);
  EXPECT_THROW(
      asking->ask(ClusterMessageType::kOwn, {{"id", "one"}, {"incarnation", kSource}}, soon()),
      Refusal);
  EXPECT_THROW(asking->ask(ClusterMessageType::kRecords, {{"id", 1}}, soon()), Refusal);
}

// The refusal repeats the bytes that could not be read.
TEST(Metadata, BytesThatAreNoTextAreRefused) {
  const ScratchDirectory directory;
  RunningMetadata metadata(directory.path());
  net::EventLoop loop;
  const auto hello = [] {
    return ClusterMessage{.type = ClusterMessageType::kHello, .records = {}};
  };
  messages::Link<ClusterMessage> link(loop, metadata.address(), net::testing::credentials(), hello,
                                      [](const ClusterMessage&) {});
  Json answer;
  link.ask({.type = ClusterMessageType::kGet, .json = "{\"id\": \"\xff\"}", .records = {}},
           [&](const ClusterMessage& answered) {
             answer = Json::parse(answered.json);
             loop.stop();
           });
  loop.call_at(loop.now_ns() + 10'000'000'000, [&] { loop.stop(); });
  loop.run();
  EXPECT_TRUE(answer.contains("refused")) << answer;
  EXPECT_NO_THROW(metadata.asking()->ask(ClusterMessageType::kGet, Json::object(), soon()));
}

// Who does not know the secret is not heard.
TEST(Metadata, LetsNobodyElseIn) {
  const ScratchDirectory directory;
  RunningMetadata metadata(directory.path());
  const auto stranger = metadata.asking(net::testing::credentials_of_another_run());
  EXPECT_THROW(
      stranger->ask(ClusterMessageType::kGet, Json::object(), Deadline::after_seconds(0.3)),
      NoAnswer);
}

// Two of them would give the same keys to different servers.
TEST(Metadata, AStateThatAServiceHasIsNobodyElses) {
  const ScratchDirectory directory;
  {
    const RunningMetadata metadata(directory.path());
    try {
      const RunningMetadata second(directory.path());
      FAIL();
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("state.json.lock is the lock of a metadata service"),
                std::string::npos)
          << error.what();
    }
  }
  const RunningMetadata after(directory.path());
}

TEST(Metadata, AChangedFileIsRefusedByName) {
  const ScratchDirectory directory;
  { RunningMetadata metadata(directory.path()); }
  const auto file = directory.path() / "state.json";
  std::string text;
  std::getline(std::ifstream(file), text, '\0');
  text.replace(text.find("\"last_migration\": 0"), 19, "\"last_migration\": 5");
  std::ofstream(file) << text;
  try {
    RunningMetadata again(directory.path());
    FAIL();
  } catch (const CheckedFileError& error) {
    EXPECT_NE(std::string(error.what()).find(file), std::string::npos);
  }
}

}  // namespace
}  // namespace turntable::shadowfax
