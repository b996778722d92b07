#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "mcload/agent.h"
#include "mcload/command_line.h"
#include "mcload/options.h"
#include "mcload/table.h"
#include "mcload/testing.h"

namespace turntable::mcload {
namespace {

using testing::RunningDelayLine;
using testing::RunningMemcached;

template <typename Take>
auto with_arguments(std::vector<std::string> words, const Take& take) {
  words.insert(words.begin(), "mcload");
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  return take(static_cast<int>(argv.size()), argv.data());
}

ParsedOptions parse(std::vector<std::string> words) {
  return with_arguments(std::move(words), parse_options);
}

TEST(Options, TakesMutilatesLetters) {
  const Options o = parse({"-s",       "127.0.0.1:11300",
                           "--binary", "-q",
                           "5000",     "-t",
                           "10",       "-w",
                           "2",        "-K",
                           "fb_key",   "-V",
                           "fb_value", "-r",
                           "1000",     "-u",
                           "0.1",      "-T",
                           "4",        "-c",
                           "16",       "-d",
                           "2",        "-i",
                           "fb_ia",    "--noload",
                           "-B",       "-R",
                           "-S",       "--moderate",
                           "--search", "99:500"})
                        .options;
  EXPECT_EQ(o.generator.servers.at(0).text(), "127.0.0.1:11300");
  EXPECT_EQ(o.generator.protocol, Protocol::kBinary);
  EXPECT_EQ(o.generator.rate_per_s, 5000);
  EXPECT_FALSE(o.generator.is_closed_loop);
  EXPECT_EQ(o.generator.threads, 4U);
  EXPECT_EQ(o.generator.connections, 16U);
  EXPECT_EQ(o.generator.depth, 2U);
  EXPECT_EQ(o.content.records, 1000U);
  EXPECT_FALSE(o.load);
  EXPECT_EQ(o.notes.size(), 4U);
  EXPECT_EQ(o.search->percentile, 99);
  EXPECT_EQ(o.search->limit_us, 500);
  EXPECT_EQ(o.search->seconds, 10);
  EXPECT_EQ(o.search->warmup_s, 2);
}

TEST(Options, DefaultsAreMutilates) {
  const Options o = parse({"-s", "127.0.0.1"}).options;
  EXPECT_EQ(o.generator.servers.at(0).text(), "127.0.0.1:11211");
  EXPECT_TRUE(o.generator.is_closed_loop);
  EXPECT_EQ(o.seconds, 5);
  EXPECT_EQ(o.content.records, 10'000U);
  EXPECT_EQ(o.content.value_size, "fixed:200");
  EXPECT_FALSE(o.from_send);
  EXPECT_TRUE(o.load);
}

TEST(Options, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"-s", "127.0.0.1:0"},
      {"-s", "127.0.0.1:x"},
      {"-s", "127.0.0.1", "--search", "99"},
      {"-s", "127.0.0.1", "--search", "100:5"},
      {"-s", "127.0.0.1", "--search", "99.9999:5"},
      {"-s", "127.0.0.1", "--search", "99:0.5"},
      {"-s", "127.0.0.1", "--search", "99:7e7"},
      {"-s", "127.0.0.1", "--search", "99:1e6"},  // the wait for answers
      {"-s", "127.0.0.1", "--scan", "1:2e8:1"},
      {"-s", "127.0.0.1", "--scan", "5:1:1"},
      {"-s", "127.0.0.1", "--scan", "1:5:1", "--search", "99:5"},
      {"-s", "127.0.0.1", "-a", "127.0.0.1"},
      {"-A"},
      {"-s", "127.0.0.1", "-i", "poisson"},
      {"-s", "[::1"},
      {"-s", "[::1]11211"},
      {"-s", "[::1]:0"},
      {"-s", "127.0.0.1", "--scan", "1e-12:1:1"},
      {"-s", "127.0.0.1", "--scan", "1:5:1e-12"},
      {"-s", "127.0.0.1", "-q", "1e-12"},
      {"-s", "127.0.0.1", "-i", "pareto:0,1,2"},  // its mean is infinite
      {"-s", "127.0.0.1", "-c", "60000", "-d", "10000"},
      {"-s", "127.0.0.1", "--loadonly", "--noload"},
      {"-s", "127.0.0.1", "--reload", "--noload"},
      {"-s", "127.0.0.1", "--loadonly", "--json", "-"},
      {"-s", "127.0.0.1", "--loadonly", "--search", "99:5"},
      {"-s", "127.0.0.1", "--scan", "1:5:1", "--save", "s"},
      {"-s", "127.0.0.1", "--save", "s", "--json", "s"}};
  for (const auto& words : wrong) EXPECT_THROW(parse(words), std::invalid_argument);
  // One within and one beyond.
  for (const auto& [name, good, bad] : std::vector<std::array<const char*, 3>>{
           {"-u", "1", "2"},
           {"--search-repeats", "99", "100"},
           {"--search-repeats", "1", "0"},
           {"--search-resolution", "0.2", "0.3"},
           {"--search-resolution", "0.001", "0"},
           {"--spin-us", "1000000", "1000001"},
           {"--seed", "1000000000000000000", "9000000000000000000"},
           {"--content-seed", "0", "-1"},
           {"-p", "65535", "0"},
           {"-C", "60000", "60001"},
           {"-D", "1", "0"},
           {"-Q", "1", "0"}}) {
    EXPECT_FALSE(parse({"-s", "127.0.0.1", name, good}).status) << name;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(parse({"-s", "127.0.0.1", name, bad}).status, 2) << name << bad;
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(std::string(bad) + "; expected a number from "), std::string::npos) << said;
  }
  EXPECT_EQ(parse({"-s", "127.0.0.1", "--search", "99:5", "--search-repeats", "99"})
                .options.search->repeats,
            99);
  EXPECT_EQ(
      parse({"-s", "127.0.0.1", "--search", "99:1e6", "--drain", "2"}).options.search->limit_us,
      1e6);
  EXPECT_NE(parse({"-s", "127.0.0.1", "--latency", "both"}).status.value_or(0), 0);
}

// What parse() says that refuses; "" if it does not.
std::string refusal(std::vector<std::string> words) {
  try {
    parse(std::move(words));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Options, RefusesToAuthenticate) {
  const std::vector<std::vector<std::string>> wrong = {
      {"-U", "me"}, {"-P", "secret"}, {"--username", "me"}, {"--password", "secret"}, {"-U", ""}};
  for (const auto& option : wrong) {
    EXPECT_NE(refusal({"-s", "127.0.0.1", option[0], option[1]}).find("SASL is not supported"),
              std::string::npos)
        << option[0];
  }
}

// As mutilate: its --records is divided by the number of servers, and 1 at least.
TEST(Options, EachServerHasItsShareOfTheRecords) {
  const auto records = [](const char* all, std::size_t servers) {
    std::vector<std::string> words = {"-r", all};
    for (std::size_t port = 1; port <= servers; ++port)
      words.insert(words.end(), {"-s", "127.0.0.1:" + std::to_string(port)});
    return parse(words).options.content.records;
  };
  EXPECT_EQ(records("1000", 1), 1000U);
  EXPECT_EQ(records("1000", 4), 250U);
  EXPECT_EQ(records("1000", 3), 333U);
  EXPECT_EQ(records("1", 2), 1U);
}

TEST(Options, TheMastersRateIsLessThanAll) {
  const auto with_master = [](std::vector<std::string> words) {
    words.insert(words.end(), {"-s", "127.0.0.1", "-a", "127.0.0.1", "--secret", "f"});
    return words;
  };
  for (const char* own : {"1000", "2000", "999.9999"}) {
    EXPECT_NE(refusal(with_master({"-q", "1000", "-Q", own})).find("-q is 1000/s"),
              std::string::npos)
        << own;
    EXPECT_NE(refusal(with_master({"--scan", "1000:5000:1000", "-Q", own}))
                  .find("--scan begins at 1000/s"),
              std::string::npos)
        << own;
  }
  EXPECT_NE(refusal(with_master({"-q", "0", "-Q", "10"})).find("a closed loop without a rate"),
            std::string::npos);
  EXPECT_EQ(refusal(with_master({"-q", "1000", "-Q", "999"})), "");
  EXPECT_EQ(refusal(with_master({"--scan", "1000:5000:1000", "-Q", "999"})), "");
  // A search keeps above it.
  EXPECT_GT(parse(with_master({"--search", "99:500", "-Q", "2000"})).options.search->least_per_s,
            2000);
  EXPECT_EQ(parse(with_master({"--search", "99:500"})).options.search->least_per_s, 0);
  EXPECT_EQ(parse({"-s", "127.0.0.1", "-q", "1000", "-Q", "2000"}).options.notes.size(), 1U);
}

TEST(Options, AnAgentIsGivenOnce) {
  EXPECT_NE(refusal({"-s", "127.0.0.1", "-a", "127.0.0.1", "-a", "127.0.0.2", "-a", "127.0.0.1",
                     "--secret", "f"})
                .find("-a 127.0.0.1: is given twice"),
            std::string::npos);
}

TEST(Options, ServersMayHaveIpv6Addresses) {
  for (const auto& [given, text] : std::vector<std::pair<std::string, std::string>>{
           {"::1", "[::1]:11211"}, {"[::1]", "[::1]:11211"}, {"[::1]:11300", "[::1]:11300"}}) {
    EXPECT_EQ(ServerAddress::parse(given).text(), text);
    EXPECT_EQ(ServerAddress::parse(text).text(), text);  // as agents are told
  }
}

Measured measured() {
  Measured m;
  m.window_ns = 2'000'000'000;
  m.loop.delivered = 3000;
  m.loop.offered = 3010;
  m.loop.unsent = 10;
  for (std::int64_t us = 1; us <= 100; ++us) {
    m.key_value.get.intended_ns.record(us * 1000);
    m.key_value.get.from_send_ns.record(us * 500);
    m.loop.latency_ns.record(us * 1000);
  }
  m.key_value.gets = 100;
  m.key_value.misses = 2;
  m.key_value.rx_bytes = 2'097'152;
  m.key_value.tx_bytes = 1'048'576;
  return m;
}

TEST(Table, LooksLikeMutilates) {
  const std::string table = table_header() + table_rows(measured(), false);
  EXPECT_EQ(table,
            "#type       avg     std     min     5th    10th    90th    95th    99th\n"
            "read       50.5    28.9     1.0     5.0    10.0    90.0    95.0    99.0\n"
            "update      0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0\n"
            "op_q        0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0\n");
  EXPECT_NE(table_rows(measured(), true).find("read       25.2"), std::string::npos);
  const std::string footer = table_footer(measured(), false, false);
  for (const char* line : {"\nTotal QPS = 1500.0 (3000 / 2.0s)\n", "\nMisses = 2 (2.0%)\n",
                           "\nSkipped TXs = 10 (0.3%)\n", "\nRX    2097152 bytes :    1.0 MB/s\n",
                           "\nTX    1048576 bytes :    0.5 MB/s\n"}) {
    EXPECT_NE(footer.find(line), std::string::npos) << line << footer;
  }
  EXPECT_EQ(footer.find("CLOSED LOOP"), std::string::npos);
  EXPECT_NE(table_footer(measured(), false, true).find("CLOSED LOOP"), std::string::npos);
  EXPECT_NE(distribution(measured(), false).find("1.000 1.000 1 0.009090909\n"),
            std::string::npos);  // one of 110
}

// 90 GETs of 1 to 90 us have an answer, and 10 have none after a second: 4 were sent.
TEST(Table, PercentilesAreThoseOfAllThatWasOffered) {
  Measured m;
  m.window_ns = m.waited_ns = 1'000'000'000;
  for (std::int64_t us = 1; us <= 90; ++us) {
    for (stats::Histogram* latencies :
         {&m.key_value.get.intended_ns, &m.key_value.get.from_send_ns, &m.loop.latency_ns})
      latencies->record(us * 1000);
  }
  m.loop.offered = 100;
  m.loop.lost = m.key_value.get.lost = 4;
  m.loop.unsent = m.key_value.get.unsent = 6;
  // The 5th of 100 is the 5th fastest answer; the 95th has none.
  EXPECT_TRUE(table_rows(m, false).starts_with(
      "read       45.5    26.0     1.0     5.0    10.0    90.0 1000000.0 1000000.0\n"));
  // From the send there are 94: their 95th percentile is the 90th answer (89.3), their 90th the
  // 85th (84.6; its bucket ends at 85.055 us).
  EXPECT_NE(table_rows(m, true).find("    85.1    90.0 1000000.0\n"), std::string::npos);
  EXPECT_NE(scan_row(m, false, 100).find(" 1000000.0 "), std::string::npos);
  const auto json = summary(m);
  EXPECT_NEAR(json["get_latency_us"]["p90"].get<double>(), 90, 0.1);
  EXPECT_EQ(json["get_latency_us"]["p95"], 1e6);
  EXPECT_EQ(json["latency_us"]["p99"], 1e6);
  EXPECT_EQ(json["latency_us"]["max"], 1e6);
  EXPECT_EQ(json["latency_us"]["count"], 90);
  EXPECT_EQ(json["latency_us"]["unanswered"], 10);
  EXPECT_EQ(json["set_latency_us"]["p99"], 0.0);
  EXPECT_NE(distribution(m, false).find(" 0.900000000\n# 10 without an answer\n"),
            std::string::npos);
  EXPECT_NE(unanswered_note(m).find("10 of 100 requests have no answer (4 lost, 6 never sent)"),
            std::string::npos);
  EXPECT_EQ(unanswered_note(measured()).find("10 of 3010"), 0U);
  EXPECT_EQ(unanswered_note({}), "");
}

TEST(Table, WithoutAnyAnswerAllHaveTheTimeThatTheyWereWaitedFor) {
  Measured m;
  m.waited_ns = 2'000'000'000;
  m.loop.lost = m.loop.offered = m.key_value.set.lost = 7;
  EXPECT_EQ(summary(m)["set_latency_us"]["p5"], 2e6);
  EXPECT_EQ(m.percentile_ns(5), -1);  // for the search
}

TEST(Table, SaysWhatMustNotHappen) {
  KeyValueStatistics all;
  EXPECT_EQ(fault_note(all), "");
  all.errors.wrong_size = all.misses = 5;  // of another content; results
  EXPECT_EQ(fault_note(all), "");
  all.errors.closed = 3;
  all.silent = 2;
  EXPECT_EQ(fault_note(all).find("3 connections were closed, 2 connections had no answer until"),
            0U);
}

// A run of the program, and what it said on standard error.
struct Ran {
  int status = 1;
  std::string errors;
};

Ran run(const std::vector<std::string>& words) {
  Ran ran;
  std::string failure;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  try {
    ran.status = with_arguments(words, run_command_line);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  ::testing::internal::GetCapturedStdout();
  ran.errors = ::testing::internal::GetCapturedStderr() + failure;
  return ran;
}

TEST(CommandLine, FailsWhereMemcachedDiesInTheMiddle) {
  RunningMemcached memcached;
  if (!memcached.is_there()) GTEST_SKIP() << "memcached is not installed";
  std::vector<std::string> words = {
      "-s", memcached.address().text(), "-c", "4", "-d", "4", "-q", "2000", "-t", "0.4", "--drain",
      "10"};
  const Ran quiet = run(words);  // it ends with its last answer
  EXPECT_EQ(quiet.status, 0) << quiet.errors;
  EXPECT_EQ(quiet.errors.find("no answer"), std::string::npos);
  words.back() = "0.1";
  std::jthread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    memcached.end();
  });
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, kFaultyStatus);
  EXPECT_NE(ran.errors.find(" connections were closed"), std::string::npos) << ran.errors;
  EXPECT_NE(ran.errors.find("requests have no answer"), std::string::npos) << ran.errors;
}

// It answers after the drain, if ever; the records are there already.
TEST(CommandLine, FailsWhereConnectionsNeverAnswer) {
  RunningDelayLine line({.delay_us = load::Variate::parse("10000000"), .hits_always = true});
  const Ran ran = run({"-s", line.address().text(), "--noload", "-c", "3", "-q", "500", "-t", "0.2",
                       "--drain", "0.1"});
  EXPECT_EQ(ran.status, kFaultyStatus);
  EXPECT_NE(ran.errors.find("3 connections had no answer"), std::string::npos) << ran.errors;
}

// Nobody listens there: it would fail, too, if it asked the server before.
TEST(CommandLine, RefusesFilesThatCannotBeWrittenBeforeItMeasures) {
  const ScratchDirectory directory;
  const std::string kept = (directory.path() / "kept").native();
  const std::string fresh = (directory.path() / "fresh").native();
  std::ofstream(kept) << "before";
  for (const char* option : {"--save", "--json"}) {
    for (const std::string& path :
         {directory.path().native(), std::string("/nowhere/at/all"), fresh + "/under"}) {
      const Ran ran = run({"-s", "127.0.0.1:1", option, path});
      EXPECT_EQ(ran.status, 1);
      EXPECT_EQ(ran.errors.find(option + (" " + path) + ": "), 0U) << ran.errors;
    }
    // What fails later leaves files as they were.
    for (const std::string& path : {kept, fresh}) {
      const Ran ran = run({"-s", "127.0.0.1:1", option, path});
      EXPECT_NE(ran.errors.find("no connection"), std::string::npos) << ran.errors;
    }
  }
  std::string content;
  std::getline(std::ifstream(kept), content);
  EXPECT_EQ(content, "before");
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST(CommandLine, WritesItsFilesAnew) {
  RunningDelayLine line({.hits_always = true});
  const std::string save = line.directory() + "/save", json = line.directory() + "/json";
  std::ofstream(json) << std::string(1'000'000, 'x');
  for (const std::vector<std::string>& mode :
       std::vector<std::vector<std::string>>{{"-q", "500", "-t", "0.1"},
                                             {"--search", "50:9e5", "-t", "0.3", "--search-repeats",
                                              "1", "--search-resolution", "0.2"}}) {
    std::vector<std::string> words = {
        "-s", line.address().text(), "--noload", "--save", save, "--json", json};
    words.insert(words.end(), mode.begin(), mode.end());
    const Ran ran = run(words);
    EXPECT_TRUE(nlohmann::json::accept(std::ifstream(json)));
    std::string first;
    std::getline(std::ifstream(save), first);
    EXPECT_EQ(first, "# from_us to_us count share_up_to_here") << ran.errors;
    std::filesystem::remove(save);
  }
}

// To store them may take long. Nobody listens where they would be stored.
TEST(CommandLine, LooksAtAgentsBeforeItStoresRecords) {
  const Ran ran = run({"-s", "127.0.0.1:1", "-a", "127.0.0.1", "--secret", "/nowhere/at/all"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.errors.find("/nowhere/at/all"), std::string::npos) << ran.errors;
}

// 1000/s are served and 3000/s are offered: a load that is not reached is a result.
TEST(CommandLine, AnOverloadIsNoFault) {
  RunningDelayLine line(
      {.delay_us = load::Variate::parse("1000"), .is_fifo = true, .hits_always = true});
  const Ran ran = run({"-s", line.address().text(), "--noload", "-c", "8", "-q", "3000", "-t",
                       "0.3", "--drain", "0.1"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_NE(ran.errors.find("never sent"), std::string::npos) << ran.errors;
}

class Agents : public ::testing::Test {
 protected:
  void SetUp() override {
    secret_ = (directory_.path() / "secret").native();
    std::ofstream(secret_) << std::string(40, 's') << "\n";
    ::chmod(secret_.c_str(), 0600);
  }
  void TearDown() override { ended_ = true; }

  void start(std::uint16_t port, const std::string& secret) {
    Options options;
    options.is_agent = true;
    options.agent_port = port;
    options.secret_file = secret;
    agents_.emplace_back([this, options] { serve_as_agent(options, ended_); });
  }

  ScratchDirectory directory_;
  std::string secret_;
  std::atomic<bool> ended_{false};
  std::vector<std::jthread> agents_;
};

TEST_F(Agents, MeasureTogether) {
  RunningDelayLine line({.hits_always = true});
  const auto port = static_cast<std::uint16_t>(20'000 + ::getpid() % 20'000);
  start(port, secret_);
  start(static_cast<std::uint16_t>(port + 1), secret_);
  Options options;
  options.secret_file = secret_;
  options.agents = {"127.0.0.1:" + std::to_string(port), "127.0.0.1:" + std::to_string(port + 1)};
  options.generator.servers = {line.address()};
  options.generator.content = std::make_shared<const Content>(ContentSettings{});
  options.generator.rate_per_s = 3000;
  options.generator.connections = 4;
  options.generator.depth = 8;
  const Play play = play_with_agents(options, ended_);
  for (int round = 0; round < 2; ++round) {
    const Measured all = play(options.generator, 0, 0.3);
    EXPECT_EQ(all.threads.size(), 3U);
    EXPECT_NEAR(static_cast<double>(all.loop.offered), 900, 150);
    EXPECT_EQ(all.loop.seconds.size(), 1U);
    EXPECT_EQ(all.key_value.gets, all.key_value.hits);
    EXPECT_EQ(static_cast<std::int64_t>(all.loop.latency_ns.count()), all.loop.offered);
  }
  options.generator.servers = {ServerAddress::unix_socket("/nowhere/at/all")};
  EXPECT_THROW(play(options.generator, 0, 0.3), std::exception);  // the agents say why
}

TEST_F(Agents, HavePortsThatAreNumbers) {
  Options options;
  options.secret_file = secret_;
  for (const char* port : {"5556x", "0", "65536", ""}) {
    options.agents = {std::string("127.0.0.1:") + port};
    EXPECT_THROW(play_with_agents(options, ended_), std::invalid_argument) << port;
  }
}

// What the first has begun ends by and by; nothing of that may disturb the second.
TEST_F(Agents, ServeAMasterWhoComesAsAnotherIsGone) {
  RunningDelayLine line({.hits_always = true});
  const auto port = static_cast<std::uint16_t>(20'000 + (::getpid() + 2) % 20'000);
  start(port, secret_);
  Options options;
  options.secret_file = secret_;
  options.agents = {"127.0.0.1:" + std::to_string(port)};
  options.generator.servers = {line.address()};
  options.generator.content = std::make_shared<const Content>(ContentSettings{});
  options.generator.rate_per_s = 1000;
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> cancelled{false};
    std::jthread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      cancelled = true;
    });
    EXPECT_THROW(play_with_agents(options, cancelled)(options.generator, 0, 30),
                 std::runtime_error);
    const Measured all = play_with_agents(options, ended_)(options.generator, 0, 0.1);
    EXPECT_EQ(all.threads.size(), 2U);
  }
}

}  // namespace
}  // namespace turntable::mcload
