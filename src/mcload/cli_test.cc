#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "mcload/agent.h"
#include "mcload/options.h"
#include "mcload/table.h"
#include "mcload/testing.h"

namespace turntable::mcload {
namespace {

using testing::RunningDelayLine;

ParsedOptions parse(std::vector<std::string> words) {
  words.insert(words.begin(), "mcload");
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(Options, TakesMutilatesLetters) {
  const Options o = parse({"-s",         "127.0.0.1:11300",
                           "--binary",   "-q",
                           "5000",       "-t",
                           "10",         "-w",
                           "2",          "-K",
                           "fb_key",     "-V",
                           "fb_value",   "-r",
                           "1000",       "-u",
                           "0.1",        "-T",
                           "4",          "-c",
                           "16",         "-d",
                           "2",          "-i",
                           "fb_ia",      "--noload",
                           "-B",         "-R",
                           "-S",         "3",
                           "--moderate", "--search",
                           "99:500"})
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
      {"-s", "127.0.0.1", "--scan", "5:1:1"},
      {"-s", "127.0.0.1", "--scan", "1:5:1", "--search", "99:5"},
      {"-s", "127.0.0.1", "-a", "127.0.0.1"},
      {"-A"},
      {"-s", "127.0.0.1", "-i", "poisson"},
      {"-s", "127.0.0.1", "--loadonly", "--noload"},
      {"-s", "127.0.0.1", "--username", "me"}};
  for (const auto& words : wrong) EXPECT_THROW(parse(words), std::invalid_argument);
  EXPECT_NE(parse({"-s", "127.0.0.1", "-u", "2"}).status.value_or(0), 0);
  EXPECT_NE(parse({"-s", "127.0.0.1", "--latency", "both"}).status.value_or(0), 0);
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
  EXPECT_NE(distribution(measured(), false).find("1.000 1.000 1 0.01"), std::string::npos);
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
