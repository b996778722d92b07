// The switch on real veth interfaces, in a network namespace of the test's own. Needs root; skipped
// otherwise.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/unique_fd.h"
#include "node/control_client.h"
#include "node/testing.h"
#include "softswitch/af_packet_port.h"
#include "softswitch/af_xdp_port.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;

const std::string kMacA("\x02\0\0\0\0\x0a", 6);
const std::string kMacB("\x02\0\0\0\0\x0b", 6);

void shell(const std::string& command) {
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

// host_a -- port_a [switch] port_b -- host_b
class LiveTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it makes a network namespace";
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "cannot make a network namespace here";
    shell("f=/proc/sys/net/ipv6/conf/default/disable_ipv6; [ ! -e $f ] || echo 1 > $f");
    shell(
        "for side in a b; do ip link add host_$side type veth peer name port_$side &&"
        " ethtool -K host_$side tx off >/dev/null &&"
        " ip link set host_$side up && ip link set port_$side up || exit 1; done");
    for (const char* interface : {"host_a", "port_a", "host_b", "port_b"}) await_link(interface);
    host_a_ = raw_socket("host_a");
    host_b_ = raw_socket("host_b");
  }

  // The kernel tells of a link, and gives its interface a queue, only some time after `up`: what is
  // sent before is lost.
  static void await_link(const std::string& interface) {
    const std::string is_up = "ip link show " + interface + " | grep -q 'state UP'";
    ASSERT_TRUE(node::testing::eventually([&] { return std::system(is_up.c_str()) == 0; }))
        << interface;
  }

  static UniqueFd raw_socket(const char* interface) {
    UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  static std::string frame(const std::string& to, std::size_t length, char fill = 'x') {
    return to + kMacA + "\x88\xb5" + std::string(length - 14, fill);  // a local experimental type
  }
  static void send(const UniqueFd& from, const std::string& bytes) {
    ASSERT_EQ(::send(from.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  // The next frame at a host, or nothing within a generous time.
  static std::optional<std::string> receive(const UniqueFd& at, int timeout_ms = 10'000) {
    pollfd polled{at.get(), POLLIN, 0};
    if (::poll(&polled, 1, timeout_ms) <= 0) return std::nullopt;
    std::string bytes(20'000, '\0');
    const ssize_t length = ::recv(at.get(), bytes.data(), bytes.size(), 0);
    if (length < 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(length));
    return bytes;
  }

  // What tests are run for: the driver of the ports.
  static bool is_af_xdp() { return GetParam() == std::string("af_xdp"); }

  UniqueFd host_a_;
  UniqueFd host_b_;
};

// A port alone, without a switch around it.
class LivePortTest : public LiveTest {
 protected:
  LivePortTest() : pool_(kBatch) {
    for (std::size_t i = 0; i < kBatch; ++i) frames_.push_back(pool_.acquire());
  }

  static std::unique_ptr<Port> open(std::uint16_t number, const std::string& interface,
                                    int receive_buffer_bytes = kDefaultReceiveBufferBytes) {
    if (is_af_xdp())
      return std::make_unique<AfXdpPort>(number, interface, false, receive_buffer_bytes);
    return std::make_unique<AfPacketPort>(number, interface, false, receive_buffer_bytes);
  }

  // Receives into frames_ until there are `count`: the kernel may hand them over one by one. Fewer
  // when no more come within a generous time.
  std::size_t receive_frames(Port& port, std::size_t count) {
    std::size_t received = 0;
    pollfd polled{port.fd(), POLLIN, 0};
    while (count > received && ::poll(&polled, 1, 10'000) > 0)
      received += port.receive(std::span(frames_).subspan(received));
    return received;
  }
  std::string bytes_of(std::size_t index) {
    const dataplane::Packet& packet = frames_.at(index)->packet;
    return {reinterpret_cast<const char*>(packet.data), packet.length};
  }

  FramePool pool_;
  std::vector<Frame*> frames_;
};

TEST_P(LivePortTest, InterfaceThatIsNotThereIsNamed) {
  try {
    open(7, "nosuchif");
    FAIL() << "there is no such interface";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("port 7"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("nosuchif"), std::string::npos) << error.what();
  }
}

TEST_P(LivePortTest, ReceivesFramesOfOthersWithRoomAroundThem) {
  const auto opened = open(1, "port_a");
  Port& port = *opened;
  const std::string sent = frame(kMacB, 1514);  // not the interface's own address
  send(host_a_, sent);
  ASSERT_EQ(receive_frames(port, 1), 1);
  EXPECT_EQ(bytes_of(0), sent);
  EXPECT_EQ(frames_[0]->packet.headroom, dataplane::kHeadroom);
  EXPECT_EQ(port.counters().rx_packets, 1);
  EXPECT_EQ(port.counters().rx_bytes, 1514);
}

// Neither its own frames nor those that the switch's kernel sends out of the interface.
TEST_P(LivePortTest, DoesNotReceiveWhatLeaves) {
  const auto opened = open(1, "port_a");
  Port& port = *opened;
  send(host_a_, frame(kMacB, 60));
  ASSERT_EQ(receive_frames(port, 1), 1);
  port.send(std::span(frames_.data(), 1));
  EXPECT_EQ(port.counters().tx_packets, 1);
  EXPECT_TRUE(receive(host_a_)) << "the frame came back to the host";
  send(raw_socket("port_a"), frame(kMacB, 61));
  EXPECT_TRUE(receive(host_a_)) << "so did one of another sender at the port's interface";
  EXPECT_EQ(port.receive(frames_), 0);
}

TEST_P(LivePortTest, VlanTagIsPartOfTheFrame) {
  const auto opened = open(1, "port_a");
  Port& port = *opened;
  const std::string tagged =
      kMacB + kMacA + std::string("\x81\x00\x20\x05\x88\xb5", 6) + std::string(60, 'v');
  send(host_a_, tagged);
  ASSERT_EQ(receive_frames(port, 1), 1);
  EXPECT_EQ(bytes_of(0), tagged);
  EXPECT_EQ(port.counters().rx_bytes, tagged.size());
}

TEST_P(LivePortTest, LongFramesAreWholeAndInOrderOrRefusedAtTheStart) {
  shell("ip link set host_a mtu 12000 && ip link set port_a mtu 12000");
  if (is_af_xdp()) {
    EXPECT_THROW(open(1, "port_a"), std::runtime_error);
    return;
  }
  AfPacketPort port(1, "port_a", false);
  const std::string tagged = kMacB + kMacA + std::string("\x81\x00\x20\x05\x88\xb5", 6);
  const std::vector<std::string> sent = {frame(kMacB, 60),
                                         frame(kMacB, 3000, 'l'),
                                         frame(kMacB, 1514),
                                         tagged + std::string(9000, 'v'),
                                         frame(kMacB, dataplane::kMaxFrame + 1),
                                         frame(kMacB, dataplane::kMaxFrame, 'm')};
  for (const std::string& bytes : sent) send(host_a_, bytes);
  ASSERT_EQ(receive_frames(port, 5), 5);
  for (const auto& [index, expected] :
       {std::pair{0, 0}, std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 3}, std::pair{4, 5}})
    EXPECT_EQ(bytes_of(index), sent[expected]) << "frame " << expected;
  EXPECT_EQ(port.counters().dropped(DropReason::kRxOversize), 1);
  EXPECT_EQ(port.counters().rx_packets, 5);
}

TEST_P(LivePortTest, PartialChecksumsAreCounted) {
  if (is_af_xdp()) GTEST_SKIP() << "an XDP program does not see it";
  AfPacketPort port(1, "port_a", false);
  shell("ip address add 198.18.200.1/24 dev host_a");
  shell("ip neighbour add 198.18.200.2 lladdr 02:00:00:00:00:0b dev host_a");
  const UniqueFd udp(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  ::inet_pton(AF_INET, "198.18.200.2", &to.sin_addr);
  const auto send_datagram = [&] {
    ::sendto(udp.get(), "hello", 5, 0, reinterpret_cast<sockaddr*>(&to), sizeof(to));
    return receive_frames(port, 1);
  };
  ASSERT_EQ(send_datagram(), 1);
  EXPECT_EQ(port.counters().checksum_not_ready, 0) << "transmit offload is off";
  shell("ethtool -K host_a tx on >/dev/null");
  ASSERT_EQ(send_datagram(), 1);
  EXPECT_EQ(port.counters().checksum_not_ready, 1);
}

TEST_P(LivePortTest, FramesTheKernelHasNoRoomForAreCounted) {
  const auto opened = open(1, "port_a", /*receive_buffer_bytes=*/1 << 16);
  Port& port = *opened;
  constexpr std::uint64_t kSent = 500;  // fewer than the kernel holds back before the socket
  for (std::uint64_t i = 0; i < kSent; ++i) send(host_a_, frame(kMacB, 1000));
  std::uint64_t received = 0;
  EXPECT_TRUE(node::testing::eventually([&] {
    received += port.receive(frames_);
    port.collect_kernel_counters();
    return received + port.counters().dropped(DropReason::kRxQueueFull) == kSent;
  }));
  EXPECT_GT(received, 0);
  EXPECT_GT(port.counters().dropped(DropReason::kRxQueueFull), 0);
}

TEST_P(LivePortTest, FrameLongerThanTheMtuIsDroppedAndTheRestLeaves) {
  shell("ip link set port_b mtu 500");
  const auto in = open(1, "port_a");
  const auto out = open(2, "port_b");
  for (const std::size_t length : {100, 1000, 200}) send(host_a_, frame(kMacB, length));
  ASSERT_EQ(receive_frames(*in, 3), 3);
  out->send(std::span(frames_.data(), 3));
  EXPECT_EQ(out->counters().tx_packets, 2);
  EXPECT_EQ(out->counters().dropped(DropReason::kTxOversize), 1);
  EXPECT_EQ(receive(host_b_)->size(), 100);
  EXPECT_EQ(receive(host_b_)->size(), 200);
}

TEST_P(LivePortTest, LinkThatGoesDownComesBackAndGoesAway) {
  const auto opened = open(1, "port_a");
  Port& port = *opened;
  send(host_a_, frame(kMacB, 60));
  ASSERT_EQ(receive_frames(port, 1), 1);
  EXPECT_EQ(port.link_state(), "up");

  shell("ip link set port_a down");
  EXPECT_EQ(port.link_state(), "down");
  port.send(std::span(frames_.data(), 1));
  EXPECT_EQ(port.counters().dropped(DropReason::kTxLinkDown), 1);
  EXPECT_EQ(port.receive(std::span(frames_).subspan(1)), 0);
  pollfd polled{port.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0) << "the loop would go round without a frame";

  shell("ip link set port_a up");
  await_link("port_a");
  await_link("host_a");
  EXPECT_EQ(port.link_state(), "up");
  send(host_a_, frame(kMacB, 61));
  EXPECT_EQ(receive_frames(port, 1), 1);

  shell("ip link delete host_a");
  EXPECT_EQ(port.link_state(), "removed");
  port.send(std::span(frames_.data(), 1));
  EXPECT_EQ(port.receive(frames_), 0);
  EXPECT_EQ(port.counters().dropped(DropReason::kTxLinkDown), 2);
}

// The program itself, with a compiled program loaded from its shared library.
class LiveSwitchTest : public LiveTest {
 protected:
  ~LiveSwitchTest() override {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  void start() {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::execl(TURNTABLE_SOFTSWITCH, "softswitch", "--directory", directory_.path().c_str(),
              "--port-driver", GetParam(), "--program", TURNTABLE_STATIC_FORWARDER, "--port",
              "1=port_a", "--cpu-port", "64=port_b", nullptr);
      ::_exit(127);
    }
    ASSERT_TRUE(node::testing::eventually([&] {
      try {
        return ask("ping")["state"] == "forwarding";
      } catch (const CommandError&) {
        return false;
      }
    }));
    ask("forward", {{"mac", "02:00:00:00:00:0b"}, {"port", 64}});
    ask("forward", {{"mac", "02:00:00:00:00:0a"}, {"port", 1}});
  }

  Json ask(const std::string& command, const Json& args = Json::object()) {
    node::ControlClient::CallOptions options;
    options.deadline = Deadline::after_seconds(20);
    return node::ControlClient(directory_.path(), "softswitch").call(command, args, options);
  }

  ScratchDirectory directory_;
  pid_t pid_ = -1;
};

TEST_P(LiveSwitchTest, FramesPassUnchangedAndAreCounted) {
  start();
  std::uint64_t bytes = 0;
  for (const std::size_t length : {60, 61, 128, 1000, 1514}) {
    const std::string sent = frame(kMacB, length, static_cast<char>(length));
    bytes += length;
    send(host_a_, sent);
    EXPECT_EQ(receive(host_b_), sent) << length;
  }
  send(host_b_, frame(kMacA, 70));
  EXPECT_EQ(receive(host_a_), frame(kMacA, 70));
  const Json ports = ask("port_stats")["ports"];
  EXPECT_EQ(ports[0]["rx_packets"], 5);
  EXPECT_EQ(ports[0]["rx_bytes"], bytes);
  EXPECT_EQ(ports[1]["tx_packets"], 5);
  EXPECT_EQ(ports[1]["tx_bytes"], bytes);
  EXPECT_EQ(ports[1]["port"], 64);
  EXPECT_EQ(ports[1]["cpu"], true);
}

// 10 frames of 1,250 bytes at 10 Mbit/s: the last leaves 9 ms after the first, and 5 ms of cable.
TEST_P(LiveSwitchTest, ShapedAndDelayedFramesAllArriveInOrder) {
  start();
  ask("tm_write", {{"updates",
                    {{{"port", 64}, {"delay_ns", 5'000'000}},
                     {{"port", 64}, {"max_rate_bps", 10'000'000}, {"max_burst_bytes", 0}}}}});
  const std::int64_t begin = monotonic_ns();
  for (char fill = 'a'; fill < 'k'; ++fill) send(host_a_, frame(kMacB, 1250, fill));
  for (char fill = 'a'; fill < 'k'; ++fill) EXPECT_EQ(receive(host_b_), frame(kMacB, 1250, fill));
  EXPECT_GE(monotonic_ns() - begin, 14'000'000);
  const Json port = ask("tm_read", {{"port", 64}})["ports"][0];
  EXPECT_EQ(port["max_rate_bps"], 10'000'000);
  EXPECT_EQ(port["queues"][0]["drop_count_packets"], 0);
}

TEST_P(LiveSwitchTest, ImpairmentsAreSetAndClearedWhileFramesPass) {
  start();
  const Json rule = {{"action", "drop"}, {"every", 2}};
  ask("impair", {{"port", 1}, {"direction", "rx"}, {"rules", Json::array({rule})}});
  for (const std::size_t length : {100, 101, 102}) send(host_a_, frame(kMacB, length));
  EXPECT_EQ(receive(host_b_)->size(), 100);
  EXPECT_EQ(receive(host_b_)->size(), 102);
  const Json impaired = ask("impair")["impaired"];
  EXPECT_EQ(impaired[0]["rules"][0]["applied"], 1);
  EXPECT_EQ(ask("port_stats")["ports"][0]["drops"]["impaired"], 1);
  ask("impair", {{"port", 1}, {"direction", "rx"}, {"rules", Json::array()}});
  for (const std::size_t length : {103, 104}) send(host_a_, frame(kMacB, length));
  EXPECT_EQ(receive(host_b_)->size(), 103);
  EXPECT_EQ(receive(host_b_)->size(), 104);
}

TEST_P(LiveSwitchTest, SurvivesALinkThatGoesDownAndAway) {
  start();
  shell("ip link set port_b down");
  EXPECT_EQ(ask("port_stats")["ports"][1]["link"], "down");
  send(host_a_, frame(kMacB, 60));
  EXPECT_TRUE(node::testing::eventually(
      [&] { return ask("port_stats")["ports"][1]["drops"]["tx_link_down"] == 1; }));
  shell("ip link set port_b up");
  await_link("port_b");
  await_link("host_b");
  send(host_a_, frame(kMacB, 60));
  EXPECT_TRUE(receive(host_b_));
  shell("ip link delete host_b");
  EXPECT_EQ(ask("port_stats")["ports"][1]["link"], "removed");
  ask("shutdown");
  int status = -1;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  EXPECT_EQ(status, 0);
}

TEST_P(LiveSwitchTest, WrongPortsAndProgramsAreClearErrors) {
  const auto message_of = [&](const std::string& port, const std::string& program) {
    return node::testing::run_program({TURNTABLE_SOFTSWITCH, "--directory", directory_.path(),
                                       "--port-driver", GetParam(), "--program", program, "--port",
                                       "1=port_a", "--port", port})
        .errors;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(message_of("2=nosuchif", TURNTABLE_STATIC_FORWARDER), "nosuchif"));
  EXPECT_TRUE(has(message_of("1=port_b", TURNTABLE_STATIC_FORWARDER), "taken by port_a"));
  EXPECT_TRUE(has(message_of("600=port_b", TURNTABLE_STATIC_FORWARDER), "below 512"));
  EXPECT_TRUE(has(message_of("two=port_b", TURNTABLE_STATIC_FORWARDER), "NUMBER=INTERFACE"));
  EXPECT_TRUE(has(message_of("2=port_b", "/no/such.so"), "/no/such.so"));
}

// However it ends.
TEST_P(LiveSwitchTest, LeavesNoProgramAtItsInterfaces) {
  const auto program_at = [](const std::string& interface) {
    return std::system(("ip link show " + interface + " | grep -q xdp").c_str()) == 0;
  };
  start();
  EXPECT_EQ(program_at("port_a"), is_af_xdp());
  EXPECT_EQ(program_at("port_b"), is_af_xdp());
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  EXPECT_TRUE(node::testing::eventually([&] { return !program_at("port_a"); }));
  EXPECT_TRUE(node::testing::eventually([&] { return !program_at("port_b"); }));
}

const auto kDrivers = ::testing::Values("af_packet", "af_xdp");
const auto kName = [](const auto& info) { return std::string(info.param); };
INSTANTIATE_TEST_SUITE_P(Driver, LivePortTest, kDrivers, kName);
INSTANTIATE_TEST_SUITE_P(Driver, LiveSwitchTest, kDrivers, kName);

}  // namespace
}  // namespace turntable::softswitch
