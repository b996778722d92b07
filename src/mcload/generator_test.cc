#include "mcload/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>
#include <thread>

#include "common/command_error.h"
#include "common/few_descriptors.h"
#include "mcload/peak.h"
#include "mcload/population.h"
#include "mcload/raw_statistics.h"
#include "mcload/settings_json.h"
#include "mcload/testing.h"

namespace turntable::mcload {
namespace {

using testing::RunningDelayLine;
using testing::RunningMemcached;
using testing::ScriptedServer;
using testing::Transport;

const std::atomic<bool> kNever{false};

GeneratorSettings settings_for(const ServerAddress& server, const ContentSettings& content = {}) {
  GeneratorSettings settings;
  settings.servers = {server};
  settings.content = std::make_shared<const Content>(content);
  settings.rate_per_s = 4000;
  settings.connections = 8;
  settings.depth = 4;
  settings.update = 0.2;
  return settings;
}

Measured measure(const GeneratorSettings& settings, double seconds, double warmup_s = 0) {
  return play_here("test", kNever)(settings, warmup_s, seconds);
}

void expect_sums(const Measured& measured) {
  const KeyValueStatistics& s = measured.key_value;
  const auto answered = static_cast<std::int64_t>(measured.loop.latency_ns.count());
  EXPECT_EQ(s.gets + s.sets, answered);
  EXPECT_EQ(answered + measured.loop.lost + measured.loop.unsent, measured.loop.offered);
  EXPECT_EQ(static_cast<std::int64_t>(s.get.intended_ns.count()), s.gets);
  EXPECT_EQ(static_cast<std::int64_t>(s.set.from_send_ns.count()), s.sets);
  EXPECT_EQ(s.get.lost + s.set.lost, measured.loop.lost);
  EXPECT_EQ(s.get.unsent + s.set.unsent, measured.loop.unsent);
  std::int64_t delivered = 0;
  for (const auto& second : measured.loop.seconds) delivered += second.delivered;
  EXPECT_EQ(delivered, measured.loop.delivered);
}

void expect_memcached_answers(Protocol protocol) {
  RunningMemcached memcached;
  if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
  const ContentSettings content{.records = 2000, .key_size = "fb_key", .value_size = "fb_value"};
  GeneratorSettings settings = settings_for(memcached.address(), content);
  settings.protocol = protocol;
  settings.threads = 2;
  const std::int64_t deadline_ns = monotonic_ns() + 60 * kSecondNs;
  const auto stored =
      populate("test", memcached.address(), protocol, *settings.content, deadline_ns, kNever);
  EXPECT_EQ(stored.stored, 2000U);
  EXPECT_TRUE(
      populate("test", memcached.address(), protocol, *settings.content, deadline_ns, kNever)
          .was_there);
  const Measured measured = measure(settings, 0.4, 0.1);
  expect_sums(measured);
  EXPECT_GT(measured.key_value.gets, 500);
  EXPECT_GT(measured.key_value.sets, 100);
  EXPECT_EQ(measured.key_value.hits, measured.key_value.gets);
  EXPECT_EQ(measured.key_value.misses, 0);
  EXPECT_EQ(measured.key_value.errors.of_requests(), 0);
  EXPECT_EQ(measured.key_value.errors.wrong_size, 0);
  EXPECT_EQ(measured.loop.lost, 0);
}

TEST(Generator, AsksDebiansMemcachedInAscii) {
  expect_memcached_answers(Protocol::kAscii);
}
TEST(Generator, AsksDebiansMemcachedInBinary) {
  expect_memcached_answers(Protocol::kBinary);
}

TEST(Generator, AnEmptyStoreMisses) {
  RunningMemcached memcached;
  if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
  GeneratorSettings settings = settings_for(memcached.address());
  settings.update = 0;
  for (const Protocol protocol : {Protocol::kAscii, Protocol::kBinary}) {
    settings.protocol = protocol;
    const Measured measured = measure(settings, 0.1);
    EXPECT_GT(measured.key_value.misses, 100);
    EXPECT_EQ(measured.key_value.misses, measured.key_value.gets);
    EXPECT_EQ(measured.key_value.hits, 0);
  }
}

TEST(Generator, AStoreWithoutRoomIsReported) {
  RunningMemcached memcached({"-m", "2", "-M"});
  if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
  const ContentSettings content{.records = 1000, .value_size = "10000"};
  GeneratorSettings settings = settings_for(memcached.address(), content);
  settings.update = 1;
  for (const Protocol protocol : {Protocol::kAscii, Protocol::kBinary}) {
    settings.protocol = protocol;
    EXPECT_THROW(populate("test", memcached.address(), protocol, *settings.content,
                          monotonic_ns() + 60 * kSecondNs, kNever),
                 CommandError);
    const Measured measured = measure(settings, 0.2);
    EXPECT_GT(measured.key_value.errors.out_of_memory, 50);
    EXPECT_EQ(measured.key_value.errors.closed, 0);
    expect_sums(measured);
  }
}

// What a store says that refuses to be populated; "" if it does not.
std::string refusal(const RunningMemcached& memcached, Protocol protocol,
                    const ContentSettings& content) {
  try {
    populate("test", memcached.address(), protocol, Content(content),
             monotonic_ns() + 60 * kSecondNs, kNever);
  } catch (const CommandError& error) {
    return error.what();
  }
  return "";
}

// 20,000 records of 10,000 bytes are 200 MB; each is STORED.
TEST(Population, RefusesAStoreThatEvicts) {
  const ContentSettings content{.records = 20'000, .value_size = "10000"};
  for (const Protocol protocol : {Protocol::kAscii, Protocol::kBinary}) {
    RunningMemcached memcached({"-m", "64"});
    if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
    const std::string said = refusal(memcached, protocol, content);
    // Where it finds nothing to evict at the moment memcached refuses a record by itself.
    if (said.find("out of memory") != std::string::npos) continue;
    EXPECT_NE(said.find("has taken 20000 records, but holds"), std::string::npos) << said;
    EXPECT_NE(said.find("expected at least 20000 and none evicted"), std::string::npos) << said;
    EXPECT_NE(said.find("more memory (-m): keys and values alone have 201 MB"), std::string::npos)
        << said;
    // It is no store that has been populated before.
    EXPECT_NE(refusal(memcached, protocol, content), "");
  }
}

// Its marker, which is small, is still there, and more items than it had.
TEST(Population, BelievesNoMarkerOfWhatALaterContentHasEvicted) {
  RunningMemcached memcached({"-m", "64"});
  if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
  const ContentSettings first{.records = 20'000, .value_size = "1000"};
  EXPECT_EQ(refusal(memcached, Protocol::kAscii, first), "");
  EXPECT_NE(refusal(memcached, Protocol::kAscii, {.records = 100'000, .value_size = "1000"}), "");
  EXPECT_NE(refusal(memcached, Protocol::kAscii, first), "");
}

// What is read at once is divided among the connections that have something: 1 MB among 16.
TEST(Generator, ReadsValuesThatAreLongerThanAConnectionsPart) {
  RunningMemcached memcached;
  if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
  const ContentSettings content{.records = 20, .value_size = "300000"};
  GeneratorSettings settings = settings_for(memcached.address(), content);
  settings.connections = 16;
  settings.depth = 1;
  settings.update = 0.1;
  settings.is_closed_loop = true;
  for (const Protocol protocol : {Protocol::kAscii, Protocol::kBinary}) {
    settings.protocol = protocol;
    populate("test", memcached.address(), protocol, *settings.content,
             monotonic_ns() + 60 * kSecondNs, kNever);
    const Measured measured = measure(settings, 0.3);
    EXPECT_GT(measured.key_value.gets, 50);
    EXPECT_EQ(measured.key_value.hits, measured.key_value.gets);
    EXPECT_EQ(measured.key_value.errors.of_requests() + measured.key_value.errors.wrong_size, 0);
    EXPECT_EQ(measured.key_value.errors.closed + measured.loop.lost, 0);
    EXPECT_GT(measured.key_value.rx_bytes,
              static_cast<std::uint64_t>(measured.key_value.hits) / 2 * 300'000);
  }
}

void expect_delays_as_given(DelayLine::Settings server) {
  server.delay_us = load::Variate::parse("uniform:10000,30000");
  server.hits_always = true;
  RunningDelayLine line(std::move(server));
  GeneratorSettings settings = settings_for(line.address());
  settings.connections = 200;
  settings.depth = 1;
  settings.update = 0;
  const Measured measured = measure(settings, 0.5);
  line.end();
  expect_sums(measured);
  const auto& given = line.server().given_ns();
  EXPECT_EQ(given.count(), measured.loop.latency_ns.count());
  EXPECT_EQ(measured.key_value.errors.wrong_size, measured.key_value.hits);  // 100 bytes, not 200
  // While the thread waited for a processor, so did its answers.
  const auto waited_ns =
      static_cast<double>(measured.threads.at(0).scheduling.value_or(SchedulingTimes{}).wait_ns);
  for (const double percentile : {50.0, 99.0}) {
    const auto gave = static_cast<double>(given.value_at_percentile(percentile));
    const auto took =
        static_cast<double>(measured.loop.from_send_ns.value_at_percentile(percentile));
    EXPECT_GE(took, 0.99 * gave) << percentile;
    EXPECT_LE(took, gave + 10e6 + waited_ns) << percentile;
  }
}

TEST(Generator, MeasuresTheDelaysThatWereGiven) {
  expect_delays_as_given({});
}
// There arrivals are the kernel's stamps.
TEST(Generator, MeasuresTheDelaysThatWereGivenOverTcp) {
  const auto port = static_cast<std::uint16_t>(20'000 + ::getpid() % 20'000);
  expect_delays_as_given({.address = ServerAddress::tcp("127.0.0.1", port)});
}

// One queue that can serve 1000/s, asked 1500 times a second: in the open loop waiting counts.
TEST(Generator, CoordinatedOmissionIsSeen) {
  DelayLine::Settings server;
  server.delay_us = load::Variate::parse("1000");
  server.is_fifo = true;
  server.hits_always = true;
  RunningDelayLine line(std::move(server));
  GeneratorSettings settings = settings_for(line.address());
  settings.connections = 4;
  settings.depth = 1;
  settings.update = 0;
  settings.rate_per_s = 1500;
  const Measured measured = measure(settings, 0.6);
  expect_sums(measured);
  EXPECT_GT(measured.loop.withheld, 200);
  // The requests of the end waited for a third of the time; their sends were only ever four.
  EXPECT_GT(measured.loop.latency_ns.value_at_percentile(90), 100'000'000);
  EXPECT_LT(measured.loop.from_send_ns.value_at_percentile(50), 20'000'000);
  GeneratorSettings closed = settings;
  closed.is_closed_loop = true;
  const Measured saturated = measure(closed, 0.3);
  // 4 under way, 4 ms each; fewer where the machine has other things to do.
  EXPECT_GT(saturated.achieved_per_s(), 300);
  EXPECT_LT(saturated.achieved_per_s(), 1250);
  EXPECT_EQ(saturated.loop.withheld, 0);
}

TEST(Generator, SurvivesAServerThatGoesAndComes) {
  RunningMemcached memcached;
  if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
  GeneratorSettings settings = settings_for(memcached.address());
  std::jthread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    memcached.end();
  });
  const Measured measured = measure(settings, 1.2);
  // One may get into the queue of a server that is about to end.
  const Errors& errors = measured.key_value.errors;
  EXPECT_GE(errors.closed, 8);
  EXPECT_EQ(errors.closed - errors.reconnected, 8);
  EXPECT_GT(measured.loop.unsent, 100);
  EXPECT_GT(measured.key_value.gets, 50);
  expect_sums(measured);
}

// A server that closes after each request it reads.
TEST(Generator, ConnectionsAreOpenedAgain) {
  const ScriptedServer server(Transport::kUnix, ScriptedServer::receive);
  GeneratorSettings settings = settings_for(server.address());
  settings.connections = 1;
  settings.rate_per_s = 500;
  const Measured measured = measure(settings, 0.3);
  EXPECT_GT(measured.key_value.errors.reconnected, 3);
  EXPECT_GE(measured.key_value.errors.closed, measured.key_value.errors.reconnected);
  EXPECT_GT(measured.loop.lost, 3);
  EXPECT_EQ(measured.key_value.gets, 0);
  expect_sums(measured);
}

// Nobody but a server that has answered well is asked again at once: 0, 1, 2, 4, ... 1024 ms are
// more than the run with its drain, 1.3 s.
Measured expect_growing_pauses(Transport transport, const std::function<void(int)>& serve) {
  const ScriptedServer server(transport, serve);
  GeneratorSettings settings = settings_for(server.address());
  settings.connections = 1;
  Measured measured = measure(settings, 0.3);
  EXPECT_GE(measured.key_value.errors.closed, 2);
  EXPECT_LE(measured.key_value.errors.closed, 13);
  expect_sums(measured);
  return measured;
}

// As memcached does that has too many connections.
void turn_away(int client) {
  ScriptedServer::send(client, "ERROR Too many open connections\r\n");
}

TEST(Generator, WhoIsTurnedAwayWaitsLongerEachTime) {
  for (const Transport transport : {Transport::kUnix, Transport::kTcp}) {
    const Measured measured = expect_growing_pauses(transport, turn_away);
    EXPECT_EQ(measured.key_value.gets + measured.key_value.sets, 0);
  }
}

TEST(Generator, WhoIsAnsweredWithAnErrorAndTurnedAwayWaitsLongerEachTime) {
  for (const Transport transport : {Transport::kUnix, Transport::kTcp}) {
    const Measured measured = expect_growing_pauses(transport, [](int client) {
      if (ScriptedServer::receive(client)) ScriptedServer::send(client, "SERVER_ERROR busy\r\n");
    });
    EXPECT_GT(measured.key_value.errors.server_error, 0);
  }
}

// However long the drawing takes: a start that was over by then would make all requests late.
TEST(Generator, StartsAfterItHasDrawn) {
  RunningDelayLine line({.hits_always = true});
  for (const bool is_closed_loop : {false, true}) {
    GeneratorSettings settings = settings_for(line.address());
    settings.is_closed_loop = is_closed_loop;
    Generator generator("test", settings);
    generator.draw(kSecondNs / 10, kSecondNs / 5, 10 * kSecondNs);
    const std::int64_t start_ns = monotonic_ns() + kSecondNs / 100;
    generator.play(start_ns, kNever);
    const Measured measured = generator.measured();
    EXPECT_GE(monotonic_ns(), start_ns + 3 * kSecondNs / 10);
    EXPECT_EQ(measured.window_ns, kSecondNs / 5);
    EXPECT_GT(measured.loop.delivered, 0);
    EXPECT_EQ(measured.loop.lost + measured.loop.unsent, 0);
    expect_sums(measured);
  }
}

// What a server says before it was asked anything answers nothing. The first request would be due
// after many minutes.
TEST(Generator, WhoIsTurnedAwayBeforeARequestHasNoProtocolError) {
  for (const Transport transport : {Transport::kUnix, Transport::kTcp}) {
    const ScriptedServer server(transport, turn_away);
    GeneratorSettings settings = settings_for(server.address());
    settings.connections = 1;
    settings.rate_per_s = 0.001;
    Generator generator("test", settings);
    const std::int64_t deadline_ns = monotonic_ns() + 60 * kSecondNs;
    while (server.served() == 0 && monotonic_ns() < deadline_ns)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    generator.draw(0, kSecondNs / 5, 0);
    generator.play(monotonic_ns(), kNever);
    const Measured measured = generator.measured();
    EXPECT_EQ(measured.loop.requests_total, 0);
    EXPECT_GE(measured.key_value.errors.closed, 1);
    EXPECT_EQ(measured.key_value.errors.protocol, 0);
  }
}

TEST(Generator, WhatMeansNothingClosesTheConnection) {
  const ScriptedServer server(Transport::kUnix, [](int client) {
    if (ScriptedServer::receive(client)) ScriptedServer::send(client, "HELLO\r\n");
    ScriptedServer::receive(client);
  });
  GeneratorSettings settings = settings_for(server.address());
  settings.connections = 1;
  settings.update = 0;
  const Measured measured = measure(settings, 0.1);
  EXPECT_GT(measured.key_value.errors.protocol, 0);
  EXPECT_EQ(measured.key_value.gets + measured.key_value.sets, 0);
}

// Neither key nor opaque is that of a request, nor a SET's reply that of a GET.
TEST(Generator, AReplyToAnotherRequestIsNoAnswer) {
  const std::string other_opaque("\x81\0\0\0\0\0\0\x01\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0",
                                 24);
  const std::vector<std::pair<Protocol, std::string>> replies = {
      {Protocol::kAscii, "VALUE 000000000000000000000000099999 0 1\r\nx\r\nEND\r\n"},
      {Protocol::kAscii, "STORED\r\n"},
      {Protocol::kBinary, other_opaque}};
  for (const auto& [protocol, reply] : replies) {
    const ScriptedServer server(Transport::kUnix, [&reply = reply](int client) {
      while (ScriptedServer::receive(client)) ScriptedServer::send(client, reply);
    });
    GeneratorSettings settings = settings_for(server.address());
    settings.protocol = protocol;
    settings.connections = settings.depth = 1;
    settings.update = 0;
    settings.rate_per_s = 500;
    const Measured measured = measure(settings, 0.2);
    EXPECT_EQ(measured.key_value.gets, 0) << reply;
    EXPECT_GE(measured.key_value.errors.protocol, 2) << reply;  // it is asked anew
    EXPECT_EQ(measured.key_value.errors.closed, measured.key_value.errors.protocol);
    EXPECT_GT(measured.loop.lost, 0);
    expect_sums(measured);
  }
}

TEST(Generator, RefusesALoadThatNoProcessCanOffer) {
  RunningDelayLine line;
  const auto refusal = [&](const std::function<void(GeneratorSettings&)>& change) -> std::string {
    GeneratorSettings settings = settings_for(line.address());
    change(settings);
    try {
      const Generator generator("test", settings);
    } catch (const CommandError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal([](GeneratorSettings& s) {
              s.connections = 60'000;
              s.depth = 10'000;
            }).find("600000000 requests under way; expected at most 10000000"),
            std::string::npos);
  // Its first instant would lie beyond the clock's 292 years.
  EXPECT_NE(refusal([](GeneratorSettings& s) { s.rate_per_s = 1e-12; }).find("at least 1e-06/s"),
            std::string::npos);
  EXPECT_NE(refusal([](GeneratorSettings& s) { s.arrivals = "pareto:0,1,2"; }).find("finite"),
            std::string::npos);
}

TEST(ServerAddress, ListensInPlaceOfAnOldSocketButOfNoOtherFile) {
  const ScratchDirectory directory;
  const std::string path = (directory.path() / "s").native();
  const ServerAddress address = ServerAddress::unix_socket(path);
  address.listen().reset();
  EXPECT_TRUE(address.listen());
  std::filesystem::remove(path);
  std::ofstream(path) << "of somebody else";
  EXPECT_THROW(address.listen(), std::system_error);
  EXPECT_EQ(std::filesystem::file_size(path), 16U);
}

TEST(Generator, SaysWhenTheProcessHasNoDescriptorLeft) {
  const ServerAddress server = ServerAddress::tcp("127.0.0.1", 1);
  const turntable::testing::NoDescriptorLeft none;
  try {
    server.connect("test", monotonic_ns() + kSecondNs);
    FAIL() << "it has connected";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("ulimit -n"), std::string::npos) << error.what();
  }
}

TEST(Population, ShowsAReplyThatIsNone) {
  const ScriptedServer server(Transport::kUnix, [](int client) {
    while (ScriptedServer::receive(client)) ScriptedServer::send(client, "-ERR\x01\r\n");
  });
  try {
    populate("test", server.address(), Protocol::kBinary, Content(ContentSettings{}),
             monotonic_ns() + 60 * kSecondNs, kNever);
    FAIL() << "it was populated";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("answered \"-ERR\\x01\\x0d\\x0a\""), std::string::npos)
        << error.what();
  }
}

TEST(Generator, NobodyListens) {
  ScratchDirectory directory;
  const auto address = ServerAddress::unix_socket((directory.path() / "nobody").native());
  EXPECT_THROW(Generator("test", settings_for(address)), CommandError);
  EXPECT_THROW(Generator("test", settings_for(ServerAddress::parse("127.0.0.1:1"))), CommandError);
}

TEST(Generator, ItsSettingsTravelAsJson) {
  RunningDelayLine line;
  GeneratorSettings settings = settings_for(line.address());
  settings.connect_timeout_ns = 60 * kSecondNs;
  const GeneratorSettings there = generator_settings_of(to_json(settings));
  EXPECT_EQ(there.connect_timeout_ns, 60 * kSecondNs);
  EXPECT_EQ(to_json(there), to_json(settings));
}

TEST(Generator, WhatItMeasuredTravelsAsJson) {
  RunningDelayLine line({.hits_always = true});
  const Measured measured = measure(settings_for(line.address()), 0.2);
  Measured twice = measured_of(raw_statistics(measured));
  EXPECT_EQ(raw_statistics(twice)["get_latency_ns"], raw_statistics(measured)["get_latency_ns"]);
  EXPECT_EQ(twice.loop.delivered, measured.loop.delivered);
  EXPECT_EQ(twice.waited_ns, kSecondNs);  // the drain of play_here()
  twice.merge(measured);
  expect_sums(twice);
  EXPECT_EQ(twice.key_value.hits, 2 * measured.key_value.hits);
  EXPECT_EQ(twice.threads.size(), 2U);
}

TEST(Generator, PercentilesCountWhatHasNoAnswer) {
  Measured measured;
  for (int i = 1; i <= 98; ++i) measured.loop.latency_ns.record(i);
  measured.loop.lost = 1;
  measured.loop.unsent = 1;
  EXPECT_EQ(measured.percentile_ns(50), 50);
  EXPECT_EQ(measured.percentile_ns(98), 98);
  EXPECT_EQ(measured.percentile_ns(99), -1);
  EXPECT_EQ(Measured().percentile_ns(50), -1);
}

TEST(Peak, FindsWhatASingleQueueHolds) {
  DelayLine::Settings server;
  server.delay_us = load::Variate::parse("500");
  server.is_fifo = true;
  server.hits_always = true;
  RunningDelayLine line(std::move(server));
  GeneratorSettings settings = settings_for(line.address());
  settings.update = 0;
  settings.connections = 64;
  const PeakSettings search{.percentile = 90,
                            .limit_us = 30'000,
                            .seconds = 0.1,
                            .warmup_s = 0,
                            .repeats = 1,
                            .resolution = 0.2};
  const auto found = find_peak("test", settings, search, monotonic_ns() + 60 * kSecondNs,
                               play_here("test", kNever));
  EXPECT_GT(found.low_per_s, 500);
  EXPECT_LT(found.low_per_s, 2600);
  EXPECT_THROW(find_peak("test", settings, search, monotonic_ns(), play_here("test", kNever)),
               CommandError);
}

// Answers of a server that is not played: what is asked of the search is what it makes of them.
Measured answered_in(std::int64_t latency_ns, std::int64_t late_ns) {
  Measured answers;
  answers.window_ns = kSecondNs;
  answers.loop.offered = answers.loop.delivered = 1000;
  answers.key_value.gets = 1000;
  for (int i = 0; i < 1000; ++i) {
    answers.loop.latency_ns.record(latency_ns);
    answers.loop.send_late_ns.record(late_ns);
  }
  return answers;
}

// Every second open loop finds its thread 2 ms late, and with it all latencies; the limit is 1 ms.
TEST(Peak, AProbeThatItsOwnGeneratorDisturbedIsMadeAgain) {
  const GeneratorSettings settings = settings_for(ServerAddress::tcp("127.0.0.1", 1));
  const PeakSettings search{.limit_us = 1000, .seconds = 0.01, .warmup_s = 0, .repeats = 1};
  const auto peak = [&](int disturbed_of_each_four) {
    int number = 0;
    return find_peak("test", settings, search, monotonic_ns() + 60 * kSecondNs,
                     [&](const GeneratorSettings& asked, double, double) {
                       const bool is_late =
                           !asked.is_closed_loop && number++ % 4 < disturbed_of_each_four;
                       return answered_in(is_late ? 2'000'000 : 100'000, is_late ? 2'000'000 : 0);
                     });
  };
  EXPECT_GT(peak(2).low_per_s, 500);
  EXPECT_EQ(peak(2).high_per_s, 0);  // nothing was too much
  const auto always = peak(4);       // then it counts, and says so
  EXPECT_EQ(always.low_per_s, 0);
  ASSERT_FALSE(always.probes.empty());
  EXPECT_NEAR(always.probes.front().outcome.late, 2000, 2);
}

// What the master keeps for itself is a part of every rate.
TEST(Peak, ProbesNothingBelowTheLeastRate) {
  const GeneratorSettings settings = settings_for(ServerAddress::tcp("127.0.0.1", 1));
  PeakSettings search{.limit_us = 1000, .seconds = 0.01, .warmup_s = 0, .repeats = 1};
  std::vector<double> rates;
  const auto find = [&](double least_per_s) {
    search.least_per_s = least_per_s;
    rates.clear();
    return find_peak("test", settings, search, monotonic_ns() + 60 * kSecondNs,
                     [&](const GeneratorSettings& asked, double, double) {
                       if (!asked.is_closed_loop) rates.push_back(asked.rate_per_s);
                       return answered_in(2'000'000, 0);  // none holds
                     });
  };
  EXPECT_EQ(find(500).low_per_s, 0);  // the closed loop reaches 1000/s
  EXPECT_GE(*std::min_element(rates.begin(), rates.end()), 500);
  EXPECT_EQ(find(0).low_per_s, 0);
  EXPECT_LT(*std::min_element(rates.begin(), rates.end()), 500);
  EXPECT_THROW(find(2000), CommandError);
  EXPECT_TRUE(rates.empty());
}

TEST(Peak, WhatIsNotServedIsNoPeak) {
  const GeneratorSettings settings = settings_for(ServerAddress::tcp("127.0.0.1", 1));
  const PeakSettings search{.limit_us = 1000, .seconds = 0.01, .warmup_s = 0};
  const Measured answers = answered_in(100'000, 0);
  const auto peak = [&](const Measured& each) {
    return find_peak("test", settings, search, monotonic_ns() + 60 * kSecondNs,
                     [&](const GeneratorSettings&, double, double) { return each; });
  };
  EXPECT_GT(peak(answers).low_per_s, 0);
  Measured missing = answers;
  missing.key_value.misses = 11;
  EXPECT_THROW(peak(missing), CommandError);
  Measured refused = answers;
  refused.key_value.errors.out_of_memory = 1;
  EXPECT_THROW(peak(refused), CommandError);
}

}  // namespace
}  // namespace turntable::mcload
