#include "dataplane/packet_generator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/command_error.h"
#include "dataplane/packet_generator_tables.h"
#include "nlohmann/json.hpp"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kLength = 54;

class PacketGeneratorTest : public ::testing::Test {
 protected:
  PacketGeneratorTest() {
    Json bytes = Json::array();
    for (std::uint32_t i = 0; i < kLength; ++i) bytes.push_back(i + 1);
    write(
        {{"table", "port_cfg"}, {"key", {{"dev_port", 196}}}, {"data", {{"pktgen_enable", true}}}});
    write({{"table", "pkt_buffer"},
           {"key", {{"pkt_buffer_offset", 32}, {"pkt_buffer_size", kLength}}},
           {"data", {{"buffer", bytes}}}});
  }

  void write(const Json& update, std::uint64_t now_ns = 0) {
    write_packet_generator(generator_, {{"updates", {update}}}, now_ns);
  }
  // Application 5 of pipe 1.
  void configure(const std::string& trigger, Json data, std::uint64_t now_ns = 0) {
    data.update({{"pkt_len", kLength}, {"pkt_buffer_offset", 32}, {"app_enable", true}});
    write({{"table", "app_cfg"},
           {"pipe", 1},
           {"key", {{"app_id", 5}}},
           {"action", trigger},
           {"data", data}},
          now_ns);
  }
  Json counts() {
    const Json read = read_packet_generator(
        generator_, {{"table", "app_cfg"}, {"pipe", 1}, {"key", {{"app_id", 5}}}});
    const Json& data = read.at("entries").at(0).at("data");
    return {data.at("trigger_counter"), data.at("batch_counter"), data.at("pkt_counter")};
  }
  // Times of the packets until then, by the clock at which they are due; headers in headers_.
  std::vector<std::uint64_t> run_until(std::uint64_t end_ns) {
    std::vector<std::uint64_t> times;
    while (generator_.next_due_ns() <= end_ns) {
      const std::uint64_t now_ns = generator_.next_due_ns();
      generator_.generate(now_ns, 1, [&](std::uint16_t port, std::span<const std::uint8_t> bytes) {
        ports_.push_back(port);
        headers_.emplace_back(bytes.begin(), bytes.begin() + 6);
        EXPECT_EQ(bytes.size(), 6 + kLength);
        EXPECT_EQ(bytes[6], 1);
        EXPECT_EQ(bytes.back(), kLength);
        times.push_back(now_ns);
      });
    }
    return times;
  }

  PacketGenerator generator_;
  std::vector<std::vector<std::uint8_t>> headers_;
  std::vector<std::uint16_t> ports_;
};

using Times = std::vector<std::uint64_t>;
using Header = std::vector<std::uint8_t>;

// pipe 1, application 5: 000 01 101.
constexpr std::uint8_t kWho = 0x0D;

TEST_F(PacketGeneratorTest, OneShotMakesItsBatchesOnce) {
  configure("trigger_timer_one_shot",
            {{"timer_nanosec", 1000},
             {"batch_count_cfg", 1},
             {"packets_per_batch_cfg", 2},
             {"ipg", 10},
             {"ibg", 100}},
            500);
  EXPECT_EQ(run_until(1'000'000), (Times{1500, 1510, 1520, 1600, 1610, 1620}));
  EXPECT_EQ(headers_[1], (Header{kWho, 0, 0, 0, 0, 1}));
  EXPECT_EQ(headers_[5], (Header{kWho, 0, 0, 1, 0, 2}));
  EXPECT_EQ(ports_, std::vector<std::uint16_t>(6, 128 + 68));
  EXPECT_EQ(counts(), Json({1, 2, 6}));
  EXPECT_EQ(generator_.next_due_ns(), PacketGenerator::kNever);
}

TEST_F(PacketGeneratorTest, PeriodicTriggersUntilItIsDisabled) {
  configure("trigger_timer_periodic", {{"timer_nanosec", 100}});
  EXPECT_EQ(run_until(350), (Times{100, 200, 300}));
  write({{"table", "app_cfg"}, {"key", {{"app_id", 5}}}, {"data", {{"app_enable", false}}}});
  EXPECT_EQ(run_until(1000), Times{});
  EXPECT_EQ(counts(), Json({3, 3, 3}));
}

TEST_F(PacketGeneratorTest, ATriggerThatComesMeanwhileWaits) {
  configure("trigger_timer_periodic",
            {{"timer_nanosec", 100}, {"packets_per_batch_cfg", 2}, {"ipg", 60}});
  EXPECT_EQ(run_until(330), (Times{100, 160, 220, 220, 280}))
      << "the second trigger was due at 200, and begins with the last packet of the first";
}

TEST_F(PacketGeneratorTest, APortTellsThatItIsDownOnceUntilThatIsCleared) {
  configure("trigger_port_down", {{"packets_per_batch_cfg", 1}});
  generator_.port_down(130, 10);
  EXPECT_EQ(run_until(20), Times{}) << "not asked to tell";
  const Json clear = {{"table", "port_cfg"},
                      {"key", {{"dev_port", 130}}},
                      {"data", {{"clear_port_down_enable", true}}}};
  write(clear);
  generator_.port_down(130, 30);
  generator_.port_down(130, 31);
  EXPECT_EQ(run_until(40), (Times{30, 30}));
  // 15 bits of padding, then nine of the port: 130 = 0 1000 0010.
  EXPECT_EQ(headers_[1], (Header{kWho, 0, 0, 0x82, 0, 1}));
  write(clear);
  generator_.port_down(130, 50);
  EXPECT_EQ(run_until(60).size(), 2);
}

TEST_F(PacketGeneratorTest, RecirculatedPacketsAreComparedUnderTheMask) {
  write({{"table", "port_cfg"},
         {"key", {{"dev_port", 196}}},
         {"data", {{"pattern_matching_enable", true}}}});
  configure("trigger_recirc_pattern",
            {{"pattern_value", 0xFF000034}, {"pattern_mask", 0xFF0000FF}});
  const std::vector<std::uint8_t> matching = {0xFF, 0x12, 0xAB, 0x34, 0};
  const std::vector<std::uint8_t> another = {0xFF, 0x12, 0xAB, 0x35, 0};
  generator_.recirculated(196, another, 1);
  generator_.recirculated(197, matching, 2);
  generator_.recirculated(68, matching, 3);
  generator_.recirculated(196, matching, 4);
  EXPECT_EQ(run_until(10), Times{4});
  EXPECT_EQ(headers_[0], (Header{kWho, 0x12, 0xAB, 0x34, 0, 0}));
}

TEST_F(PacketGeneratorTest, SourcePortsCountWithinABatch) {
  configure("trigger_timer_one_shot", {{"packets_per_batch_cfg", 2},
                                       {"batch_count_cfg", 1},
                                       {"pipe_local_source_port", 8},
                                       {"increment_source_port", true}});
  run_until(10);
  EXPECT_EQ(ports_, (std::vector<std::uint16_t>{136, 137, 138, 136, 137, 138}));
}

TEST_F(PacketGeneratorTest, NothingIsMadeWhileThePortDoesNotGenerate) {
  write(
      {{"table", "port_cfg"}, {"key", {{"dev_port", 196}}}, {"data", {{"pktgen_enable", false}}}});
  configure("trigger_timer_one_shot", {{"timer_nanosec", 1}});
  EXPECT_EQ(run_until(100), Times{});
}

TEST_F(PacketGeneratorTest, ATimerThatIsTooLateSkipsWhatItMissed) {
  configure("trigger_timer_periodic", {{"timer_nanosec", 1000}});
  constexpr std::uint64_t kLater = 10'000'000'500;
  std::size_t packets = 0;
  while (generator_.generate(kLater, 64, [&](auto, auto) { ++packets; })) continue;
  EXPECT_LE(packets, 3);
  EXPECT_EQ(generator_.next_due_ns(), 10'000'001'000) << "the next one keeps to the period";
}

TEST_F(PacketGeneratorTest, WrongConfigurationsAreRefusedWhole) {
  const auto refused = [&](const Json& update) {
    try {
      write(update);
    } catch (const CommandError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  const auto application = [](const Json& data) {
    return Json{{"table", "app_cfg"}, {"key", {{"app_id", 0}}}, {"data", data}};
  };
  EXPECT_NE(refused(application({{"app_enable", true}, {"pkt_len", 53}})).find("at least 54"),
            std::string::npos);
  EXPECT_NE(
      refused(application({{"app_enable", true}, {"pkt_buffer_offset", 8}})).find("multiple of 16"),
      std::string::npos);
  EXPECT_NE(refused(application({{"ibg_jitter", 4}})).find("not supported"), std::string::npos);
  EXPECT_NE(refused(application({{"batches", 4}})).find("no field"), std::string::npos);
  EXPECT_NE(refused({{"table", "app_cfg"}, {"key", {{"app_id", 8}}}}).find("from 0 to 7"),
            std::string::npos);
  EXPECT_NE(
      refused(
          {{"table", "port_cfg"}, {"key", {{"dev_port", 1}}}, {"data", {{"pktgen_enable", true}}}})
          .find("expected 68, 196, 324 or 452"),
      std::string::npos);
  configure("trigger_timer_periodic", {{"timer_nanosec", 100}});
  EXPECT_NE(refused({{"table", "app_cfg"},
                     {"key", {{"app_id", 5}}},
                     {"pipe", 1},
                     {"action", "trigger_port_down"}})
                .find("disable it"),
            std::string::npos);
}

}  // namespace
}  // namespace turntable::dataplane
