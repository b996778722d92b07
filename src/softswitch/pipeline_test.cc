#include "softswitch/pipeline.h"

#include <gtest/gtest.h>

#include "common/allocation_counter.h"
#include "common/clock.h"
#include "softswitch/pipeline_fixture.h"

namespace turntable::softswitch {
namespace {

using testing::FakePort;
using testing::FakeProgram;
using testing::forward_by_first_byte;
using testing::frame_to;
using testing::PipelineTest;

TEST_F(PipelineTest, UnicastReachesItsPortsInOrder) {
  run({frame_to(2, "a"), frame_to(3, "b"), frame_to(2, "c"), frame_to(1, "d")});
  EXPECT_EQ(port(2).sent, (std::vector{frame_to(2, "a"), frame_to(2, "c")}));
  EXPECT_EQ(port(3).sent, (std::vector{frame_to(3, "b")}));
  EXPECT_EQ(port(1).sent, (std::vector{frame_to(1, "d")})) << "back out of the port it came from";
}

TEST_F(PipelineTest, NothingLeavesBeforeFlushAndABatchLeavesAtOnce) {
  arrive({frame_to(2, "a"), frame_to(2, "b")});
  EXPECT_TRUE(port(2).sent.empty());
  pipeline_.flush();
  EXPECT_EQ(port(2).batches, std::vector<std::size_t>{2});
}

TEST_F(PipelineTest, MoreThanABatchLeavesInBatches) {
  std::vector<std::string> frames;
  for (std::size_t i = 0; i < kBatch + 6; ++i) frames.push_back(frame_to(2, std::to_string(i)));
  arrive({frames.begin(), frames.begin() + kBatch});
  arrive({frames.begin() + kBatch, frames.end()});
  pipeline_.flush();
  EXPECT_EQ(port(2).batches, (std::vector<std::size_t>{kBatch, 6}));
  EXPECT_EQ(port(2).sent, frames);
}

TEST_F(PipelineTest, IngressSeesItsPortAndTime) {
  dataplane::Packet seen;
  program_.on_ingress = [&](dataplane::Packet& packet) { seen = packet; };
  const auto before = static_cast<std::uint64_t>(monotonic_ns()) & 0xffffffffffffULL;
  run({frame_to(2)});
  EXPECT_EQ(seen.ingress_port, 1);
  EXPECT_GE(seen.ingress_mac_tstamp_ns, before);
  EXPECT_EQ(seen.headroom, dataplane::kHeadroom);
  EXPECT_GE(seen.tailroom, dataplane::kHeadroom);
}

TEST_F(PipelineTest, GeneratedPacketsGoThroughIngress) {
  dataplane::PacketGenerator::State state = pipeline_.packet_generator().state();
  state.ports[68].generates = true;
  auto& application = state.pipes[0].applications[2];
  application.enabled = true;
  application.packets = 3;
  application.source_port = 7;
  state.pipes[0].buffer[0] = 0x5A;
  std::vector<std::uint8_t> first_bytes;
  program_.on_ingress = [&](dataplane::Packet& packet) {
    EXPECT_EQ(packet.ingress_port, 7)
        << "the application's, which need not be a port of the switch";
    EXPECT_EQ(packet.length, 6 + 64);
    EXPECT_EQ(packet.data[6], 0x5A);
    first_bytes.push_back(packet.data[0]);
    packet.has_ucast_egress_port = true;
    packet.ucast_egress_port = 2;
  };
  const auto now_ns = static_cast<std::uint64_t>(monotonic_ns());
  pipeline_.packet_generator().configure(state, now_ns);
  EXPECT_EQ(pipeline_.next_due_ns(), now_ns);
  pipeline_.flush();
  EXPECT_EQ(port(2).sent.size(), 3);
  EXPECT_EQ(first_bytes, (std::vector<std::uint8_t>{2, 2, 2}));
  EXPECT_EQ(ports_.find(68)->counters().rx_packets, 3);
  EXPECT_EQ(pipeline_.next_due_ns(), kNever);
}

TEST_F(PipelineTest, ARecirculatedFrameTriggersItsPipesGenerator) {
  dataplane::PacketGenerator::State state = pipeline_.packet_generator().state();
  state.ports[68].generates = state.ports[68].matches_patterns = true;
  auto& application = state.pipes[0].applications[1];
  application.trigger = dataplane::PacketGenerator::Trigger::kRecirculation;
  application.enabled = true;
  application.pattern_value = 0x44616263;  // 68, then "abc"
  application.pattern_mask = 0xFFFFFFFF;
  pipeline_.packet_generator().configure(state, 0);
  std::vector<std::string> heads;
  program_.on_ingress = [&](dataplane::Packet& packet) {
    heads.emplace_back(reinterpret_cast<const char*>(packet.data), 4);
    if (packet.ingress_port == 1) forward_by_first_byte(packet);
  };
  run({frame_to(68, "abd"), frame_to(68, "abc")});
  const std::string generated = std::string(1, '\1') + "abc";  // the application, then the key
  EXPECT_EQ(std::count(heads.begin(), heads.end(), generated), 1);
  EXPECT_EQ(std::count(heads.begin(), heads.end(), frame_to(68, "abc")), 2) << "it goes on, too";
  EXPECT_EQ(heads.size(), 5);
}

TEST_F(PipelineTest, FrameWithoutDestinationIsCounted) {
  program_.on_ingress = [](dataplane::Packet&) {};
  run({frame_to(2)});
  EXPECT_EQ(dropped(1, DropReason::kNoDestination), 1);
  EXPECT_TRUE(port(2).sent.empty());
}

TEST_F(PipelineTest, PortThatIsNotThereIsCounted) {
  run({frame_to(99)});
  program_.on_ingress = [](dataplane::Packet& packet) {
    packet.has_ucast_egress_port = true;
    packet.ucast_egress_port = 0xffff;  // beyond the 9 bits of a port
  };
  run({frame_to(2)});
  EXPECT_EQ(dropped(1, DropReason::kUnknownPort), 2);
}

TEST_F(PipelineTest, DropCtlOfIngressWinsOverADestination) {
  program_.on_ingress = [](dataplane::Packet& packet) {
    forward_by_first_byte(packet);
    packet.drop_ctl = 1;
  };
  run({frame_to(2)});
  EXPECT_EQ(dropped(1, DropReason::kIngressDrop), 1);
  EXPECT_TRUE(port(2).sent.empty());
}

TEST_F(PipelineTest, DropCtlForMulticastAndMirrorLeavesTheUnicastCopy) {
  program_.on_ingress = [](dataplane::Packet& packet) {
    forward_by_first_byte(packet);
    packet.drop_ctl = 6;
  };
  run({frame_to(2)});
  EXPECT_EQ(port(2).sent.size(), 1);
}

TEST_F(PipelineTest, GroupWithoutMembersIsNoDestination) {
  program_.on_ingress = [](dataplane::Packet& packet) { packet.mcast_grp_a = 5; };
  run({frame_to(2)});
  EXPECT_EQ(dropped(1, DropReason::kNoDestination), 1);
}

TEST_F(PipelineTest, EgressMayDropAndSeesItsPort) {
  std::vector<std::uint16_t> seen;
  program_.on_egress = [&](dataplane::Packet& packet) {
    seen.push_back(packet.egress_port);
    if (packet.data[1] == 'x') packet.drop_ctl = 1;
  };
  run({frame_to(2, "x"), frame_to(3, "y")});
  EXPECT_EQ(seen, (std::vector<std::uint16_t>{2, 3}));
  EXPECT_EQ(dropped(2, DropReason::kEgressDrop), 1);
  EXPECT_TRUE(port(2).sent.empty());
  EXPECT_EQ(port(3).sent.size(), 1);
}

TEST_F(PipelineTest, IngressDropCtlDoesNotReachEgress) {
  program_.on_ingress = [](dataplane::Packet& packet) {
    forward_by_first_byte(packet);
    packet.drop_ctl = 2;
  };
  std::uint8_t seen = 0xff;
  program_.on_egress = [&](dataplane::Packet& packet) { seen = packet.drop_ctl; };
  run({frame_to(2)});
  EXPECT_EQ(seen, 0);
}

TEST_F(PipelineTest, BypassEgressSkipsIt) {
  program_.on_ingress = [](dataplane::Packet& packet) {
    forward_by_first_byte(packet);
    packet.bypass_egress = true;
  };
  program_.on_egress = [](dataplane::Packet& packet) { packet.drop_ctl = 1; };
  run({frame_to(2)});
  EXPECT_EQ(port(2).sent.size(), 1);
}

TEST_F(PipelineTest, QueueDepthsAreThoseOfThePort) {
  run({frame_to(2), frame_to(2), frame_to(3), frame_to(2)});
  ASSERT_EQ(port(2).metadata.size(), 3);
  const std::uint32_t enqueue_depths[] = {0, 1, 2};
  const std::uint32_t dequeue_depths[] = {2, 1, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(port(2).metadata[i].enq_qdepth, enqueue_depths[i]);
    EXPECT_EQ(port(2).metadata[i].deq_qdepth, dequeue_depths[i]);
  }
  EXPECT_EQ(port(3).metadata[0].enq_qdepth, 0);
}

TEST_F(PipelineTest, AGrownFrameLeavesWhole) {
  program_.on_egress = [](dataplane::Packet& packet) {
    packet.data -= 3;
    packet.headroom -= 3;
    packet.length += 3;
    std::copy_n("new", 3, packet.data);
  };
  run({frame_to(2, "old")});
  EXPECT_EQ(port(2).sent, std::vector{"new" + frame_to(2, "old")});
}

// The cost is serial: every packet leaves by itself, and n packets keep the thread busy for at
// least n delays.
TEST_F(PipelineTest, ProcessingDelayIsPaidByEveryPacketInTurn) {
  constexpr std::uint64_t kDelayNs = 300'000;
  pipeline_.set_processing_delay_ns(kDelayNs);
  std::vector<std::int64_t> left_at;
  port(2).on_send = [&] { left_at.push_back(monotonic_ns()); };
  const std::int64_t begin = monotonic_ns();
  run({frame_to(2), frame_to(2), frame_to(2), frame_to(2)});
  EXPECT_EQ(port(2).batches, std::vector<std::size_t>(4, 1));
  ASSERT_EQ(left_at.size(), 4);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_GE(left_at[i] - begin, static_cast<std::int64_t>((i + 1) * kDelayNs));
}

// Sends and receives nothing, and allocates nothing.
class SinkPort : public Port {
 public:
  explicit SinkPort(std::uint16_t number) : Port(number, "sink", false) {}
  int fd() const override { return -1; }
  std::size_t receive(std::span<Frame*>) override { return 0; }
  void send(std::span<Frame* const> frames) override { counters().tx_packets += frames.size(); }
  std::string link_state() override { return "up"; }
};

TEST(Pipeline, NothingIsAllocatedPerPacket) {
  FakeProgram program;
  program.on_ingress = forward_by_first_byte;
  PortTable ports;
  for (const std::uint16_t number : std::initializer_list<std::uint16_t>{1, 2})
    ports.add(std::make_unique<SinkPort>(number));
  FramePool pool(kBatch);
  Pipeline pipeline(program, ports, pool);
  std::vector<Frame*> batch(kBatch);
  const std::uint64_t before = allocation_count();
  for (int round = 0; round < 100; ++round) {
    for (Frame*& frame : batch) {
      frame = pool.acquire();
      frame->buffer[dataplane::kHeadroom] =
          static_cast<std::uint8_t>(round % 3);  // port 0 is not there
      frame->reset(60);
    }
    pipeline.process(batch, *ports.find(1));
    pipeline.flush();
  }
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(ports.find(1)->counters().tx_packets, 33 * kBatch);
}

TEST(PortTable, RefusesNumbersThatAreTakenOrTooLarge) {
  PortTable ports;
  ports.add(std::make_unique<FakePort>(5));
  EXPECT_THROW(ports.add(std::make_unique<FakePort>(5)), std::invalid_argument);
  EXPECT_THROW(ports.add(std::make_unique<FakePort>(512)), std::invalid_argument);
  EXPECT_EQ(ports.find(6), nullptr);
}

TEST(FramePool, GivesEachFrameOnceAndTheLastReleasedFirst) {
  FramePool pool(2);
  Frame* first = pool.acquire();
  Frame* second = pool.acquire();
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(first->buffer, second->buffer);
  EXPECT_EQ(pool.acquire(), nullptr);
  pool.release(first);
  pool.release(second);
  EXPECT_EQ(pool.acquire(), second);
}

}  // namespace
}  // namespace turntable::softswitch
