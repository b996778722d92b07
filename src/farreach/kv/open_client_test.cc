// An open loop of kvclient against a server in memory whose answers take a given time.
#include "farreach/kv/open_client.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <vector>

#include "common/clock.h"
#include "common/unique_fd.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/value.h"
#include "net/udp.h"

namespace turntable::kv {
namespace {

constexpr std::uint16_t kServed = 1;

// Answers every request `delay_ns` after it was sent, to the nanosecond by the answer's stamp. Keys
// whose last byte is even are the switch's.
class DelayServer final : public net::Datagrams {
 public:
  explicit DelayServer(std::int64_t delay_ns)
      : delay_ns_(delay_ns), always_(::eventfd(1, EFD_CLOEXEC)) {}

  static bool by_switch(const PacketKey& key) { return key.back() % 2 == 0; }

  int receive() noexcept override {
    batch_.clear();
    for (; !under_way_.empty() && under_way_.front().at_ns <= realtime_ns() && batch_.size() < 64;
         under_way_.pop_front())
      batch_.push_back(under_way_.front());
    return static_cast<int>(batch_.size());
  }
  Received at(std::size_t i) const noexcept override {
    return {.bytes = batch_[i].bytes,
            .from = {},
            .has_stamp = true,
            .received_ns = batch_[i].at_ns,
            .truncated = false};
  }

  bool full() const noexcept override { return false; }
  std::size_t waiting() const noexcept override { return 0; }
  std::size_t capacity() const noexcept override { return 64; }
  std::span<std::uint8_t> buffer() noexcept override { return request_; }
  void add(std::size_t bytes, const sockaddr_in*, std::uint8_t, std::uint32_t) noexcept override {
    Packet request;
    ASSERT_EQ(decode(std::span(request_).first(bytes), request), DecodeStatus::kOk);
    std::array<std::uint8_t, kMaxValueBytes> value;
    fill_value(value, *workload::key_id_from_wire(request.key), kLoadedVersion);
    const bool get = request.type == PacketType::kGetRequest;
    const Packet answer{
        .type = get ? PacketType::kGetResponse : PacketType::kPutResponse,
        .key = request.key,
        .request_id = request.request_id,
        .value = get ? std::span<const std::uint8_t>(value) : std::span<const std::uint8_t>(),
        .stat = kStatSuccess,
        .node = by_switch(request.key) ? kSwitchNode : kServed};
    Answer made{.at_ns = realtime_ns() + delay_ns_, .bytes = std::vector<std::uint8_t>(256)};
    made.bytes.resize(encode(answer, made.bytes));
    under_way_.push_back(std::move(made));
  }
  void flush(std::size_t, net::FailedCallback) noexcept override {}

  int fd() const noexcept override { return always_.get(); }  // readable: the thread never sleeps
  sockaddr_in local() const override { return {}; }
  std::size_t buffer_bytes() const override { return 0; }
  std::uint32_t drops() const override { return 0; }

 private:
  struct Answer {
    std::int64_t at_ns;
    std::vector<std::uint8_t> bytes;
  };

  std::int64_t delay_ns_;
  UniqueFd always_;
  std::array<std::uint8_t, 256> request_{};
  std::deque<Answer> under_way_;
  std::vector<Answer> batch_;
};

class OpenClientTest : public ::testing::Test {
 protected:
  OpenClientTest() {
    settings_.order = {.first_client = 0, .clients = 4, .first_global_client = 0};
    settings_.value_bytes = 128;
    settings_.rate_per_s = 2000;
    settings_.seed = 7;
  }

  OpenClient client(std::int64_t delay_ns) {
    return {settings_, replay_, std::make_unique<DelayServer>(delay_ns)};
  }

  Traces traces_{testing::small_workload(), 0, 4, testing::kNotCancelled};
  Replay replay_{traces_, 4, std::vector<unsigned>{kServed}};
  OpenClient::Settings settings_;
};

TEST_F(OpenClientTest, EveryLatencyIsTheDelayAndWhatTheClientWasLateItself) {
  constexpr std::int64_t kDelay = 5 * kMillisecondNs;
  OpenClient client = this->client(kDelay);
  const std::int64_t start = monotonic_ns() + 10 * kMillisecondNs;
  client.set_schedule({start, start + 100 * kMillisecondNs, start + 600 * kMillisecondNs,
                       start + 60'000 * kMillisecondNs});
  client.run();

  const load::OpenLoopStatistics& loop = client.loop().statistics();
  const PartitionStatistics& partition = client.statistics().partitions.front();
  const OpenPartition& open = client.book().open.front();
  EXPECT_NEAR(static_cast<double>(loop.offered), 1000, 5 * std::sqrt(1000.0));
  EXPECT_EQ(open.offered, loop.offered);
  EXPECT_EQ(loop.lost + loop.unsent + client.statistics().unanswered, 0);
  EXPECT_EQ(partition.server_latency_ns.count() + partition.switch_latency_ns.count(),
            static_cast<std::uint64_t>(loop.offered));
  EXPECT_GT(partition.server_latency_ns.count(), 300U);
  EXPECT_GT(partition.switch_latency_ns.count(), 300U);
  EXPECT_EQ(partition.server_ops + partition.switch_ops, loop.delivered);

  // The server's clock is read after the client's: a request takes the delay, and a little. A
  // thread that is interrupted between reading two clocks is wrong by as much, so: the median.
  const auto median = static_cast<double>(open.from_send_ns.value_at_percentile(50));
  EXPECT_GE(median, kDelay * 0.999);
  EXPECT_LE(median, kDelay * 1.2);
  // From the intended instant it is longer by exactly the lateness of the sends.
  EXPECT_EQ(partition.server_latency_ns.sum() + partition.switch_latency_ns.sum(),
            open.from_send_ns.sum() + loop.send_late_ns.sum());
  const ClientStatistics& all = client.statistics();
  EXPECT_EQ(all.malformed + all.mismatched + all.wrong_node + all.wrong_values + all.not_found +
                all.stale_answers + all.send_errors,
            0);
  EXPECT_EQ(partition.requests_total, partition.answers_total);
}

TEST_F(OpenClientTest, ProbesComeOneAtATimeBeforeTheLoad) {
  settings_.probes = 5;
  settings_.probe_offset_ns = 3 * kMillisecondNs;
  settings_.probe_period_ns = 20 * kMillisecondNs;
  settings_.load_offset_ns = 100 * kMillisecondNs;
  OpenClient client = this->client(kMillisecondNs);
  const std::int64_t start = monotonic_ns() + 10 * kMillisecondNs;
  client.set_schedule({start, start + 150 * kMillisecondNs, start + 250 * kMillisecondNs,
                       start + 60'000 * kMillisecondNs});
  for (int probe = 0; probe < 5; ++probe)
    EXPECT_EQ(client.loop().intended_ns(probe) - start, (3 + 20 * probe) * kMillisecondNs);
  EXPECT_GT(client.loop().intended_ns(5) - start, 100 * kMillisecondNs);
  client.run();
  const OpenPartition& open = client.book().open.front();
  EXPECT_EQ(open.server_path_ns.count() + open.switch_path_ns.count(), 5U);
  EXPECT_GE(open.server_path_ns.sum() + open.switch_path_ns.sum(), 5U * kMillisecondNs);
}

// Distances of successive instants, in units of the mean that they should have.
std::vector<double> gaps(const std::vector<std::int64_t>& instants, double rate_per_s) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < instants.size(); ++i)
    gaps.push_back(static_cast<double>(instants[i] - instants[i - 1]) * rate_per_s / 1e9);
  return gaps;
}

// The statistic of Kolmogorov and Smirnov against the exponential distribution, times sqrt(n).
double distance_from_exponential(std::vector<double> gaps) {
  std::sort(gaps.begin(), gaps.end());
  const auto n = static_cast<double>(gaps.size());
  double distance = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const double below = 1 - std::exp(-gaps[i]);
    distance = std::max({distance, std::abs(below - static_cast<double>(i) / n),
                         std::abs(below - static_cast<double>(i + 1) / n)});
  }
  return distance * std::sqrt(n);
}

// Exceeded by chance once in ten thousand times.
constexpr double kFar = 2.23;

class ArrivalsTest : public OpenClientTest {
 protected:
  // By running partition, and of both together.
  std::array<std::vector<std::int64_t>, 3> instants() {
    OpenClient client{settings_, both_, std::make_unique<DelayServer>(0)};
    client.set_schedule({0, 0, 60'000 * kMillisecondNs, 60'000 * kMillisecondNs});
    std::array<std::vector<std::int64_t>, 3> instants;
    for (std::uint64_t number = 0; number < client.loop().requests(); ++number) {
      const std::int64_t at_ns = client.loop().intended_ns(number);
      instants[client.order().at(number).operation.running].push_back(at_ns);
      instants[2].push_back(at_ns);
    }
    return instants;
  }

  // Long traces: with few operations the thinning would repeat itself.
  Traces long_{workload::workload_from_json({{"name", "workloada"},
                                             {"records", 10'000},
                                             {"clients", 4},
                                             {"operations", 400'000},
                                             {"seed", 3}}),
               0, 4, testing::kNotCancelled};
  Replay both_{long_, 4, std::vector<unsigned>{kServed, 2}};
};

TEST_F(ArrivalsTest, ArePoissonProcessesTogetherAndAtEveryPartition) {
  const auto instants = this->instants();
  const auto all = static_cast<double>(instants[2].size());
  EXPECT_NEAR(all, 2000 * 60, 5 * std::sqrt(2000 * 60.0));
  for (const auto& of_partition : instants) {
    ASSERT_GT(of_partition.size(), 10'000U);
    const double rate = 2000 * static_cast<double>(of_partition.size()) / all;
    const auto distances = gaps(of_partition, rate);
    EXPECT_LT(distance_from_exponential(distances), kFar);
    // One gap tells nothing about the next.
    double products = 0;
    for (std::size_t i = 1; i < distances.size(); ++i)
      products += (distances[i] - 1) * (distances[i - 1] - 1);
    const auto n = static_cast<double>(distances.size());
    EXPECT_LT(std::abs(products / n), 4 / std::sqrt(n));
  }
}

TEST_F(ArrivalsTest, OtherProcessesAreToldFromIt) {
  for (const load::Process process : {load::Process::kPeriodic, load::Process::kUniform}) {
    settings_.process = process;
    EXPECT_GT(distance_from_exponential(gaps(instants()[2], 2000)), 10 * kFar);
  }
}

TEST_F(ArrivalsTest, OfOtherSeedsAndClientsAreOthers) {
  const auto first = instants()[2];
  EXPECT_EQ(first, instants()[2]);
  settings_.seed = 8;
  EXPECT_NE(first, instants()[2]);
  settings_.seed = 7;
  settings_.order.first_global_client = 4;
  EXPECT_NE(first, instants()[2]);
}

}  // namespace
}  // namespace turntable::kv
