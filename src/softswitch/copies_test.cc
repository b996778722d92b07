// Copies of frames on their way through the pipeline: multicast, CPU, mirror, resubmit,
// recirculation. What programs ask for and which copies follow is tested with translated programs
// (tests/p4soft/test_copies.py); here it is what the switch does with the frames.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/allocation_counter.h"
#include "softswitch/pipeline_fixture.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;
using testing::forward_by_first_byte;
using testing::frame_to;

class CopiesTest : public testing::PipelineTest {
 protected:
  CopiesTest()
      : tables_([this](const dataplane::FixedTables::State& state) {
          pipeline_.replication().configure(state);
        }) {}

  void write(const char* table, const Json& key, const Json& data) {
    tables_.execute(
        "table_write",
        {{"updates", {{{"op", "upsert"}, {"table", table}, {"key", key}, {"data", data}}}}});
  }
  void add_group(int group, const std::vector<int>& ports) {
    write("$pre.node", {{"$MULTICAST_NODE_ID", group}},
          {{"$MULTICAST_RID", 10 * group}, {"$DEV_PORT", ports}});
    write("$pre.mgid", {{"$MGID", group}},
          {{"$MULTICAST_NODE_ID", {group}},
           {"$MULTICAST_NODE_L1_XID_VALID", {false}},
           {"$MULTICAST_NODE_L1_XID", {0}}});
  }
  void add_session(int number, int port) {
    write("$mirror.cfg", {{"$sid", number}},
          {{"$session_enable", true},
           {"$ucast_egress_port", port},
           {"$ucast_egress_port_valid", true},
           {"$egress_port_queue", 3}});
  }

  dataplane::FixedTables tables_;
};

TEST_F(CopiesTest, EachCopyIsAFrameOfItsOwn) {
  add_group(1, {2, 3});
  program_.on_ingress = [](dataplane::Packet& packet) {
    forward_by_first_byte(packet);
    packet.mcast_grp_a = 1;
  };
  program_.on_egress = [](dataplane::Packet& packet) {
    packet.data[1] = static_cast<std::uint8_t>('0' + packet.egress_rid / 10);
  };
  run({frame_to(2, "_tail")});
  EXPECT_EQ(port(2).sent, (std::vector{frame_to(2, "0tail"), frame_to(2, "1tail")}));
  EXPECT_EQ(port(3).sent, std::vector{frame_to(2, "1tail")});
}

TEST_F(CopiesTest, UnknownPortsOfAGroupAreCounted) {
  add_group(1, {2, 99});
  program_.on_ingress = [](dataplane::Packet& packet) { packet.mcast_grp_a = 1; };
  run({frame_to(0)});
  EXPECT_EQ(port(2).sent.size(), 1);
  EXPECT_EQ(dropped(1, DropReason::kUnknownPort), 1);
}

TEST_F(CopiesTest, CopyToCpuOutlivesTheDropOfTheFrame) {
  write("$pre.port", {{"$DEV_PORT", 3}}, {{"$COPY_TO_CPU_PORT_ENABLE", true}});
  program_.on_ingress = [](dataplane::Packet& packet) {
    forward_by_first_byte(packet);
    packet.copy_to_cpu = true;
    packet.drop_ctl = dataplane::kDropFrame;
  };
  run({frame_to(2)});
  EXPECT_TRUE(port(2).sent.empty());
  EXPECT_EQ(port(3).sent, std::vector{frame_to(2)});
  EXPECT_EQ(dropped(1, DropReason::kIngressDrop), 1);
}

TEST_F(CopiesTest, CopiesThatFindNoFreeFrameAreCounted) {
  add_group(1, {2, 2, 2, 2});
  program_.on_ingress = [](dataplane::Packet& packet) { packet.mcast_grp_a = 1; };
  std::vector<Frame*> taken;  // all but one, and that arrives
  while (pool_.available() > 3) taken.push_back(pool_.acquire());
  run({frame_to(2)});
  EXPECT_EQ(port(2).sent.size(), 3) << "two copies and the frame itself";
  EXPECT_EQ(dropped(1, DropReason::kNoBuffer), 1);
  for (Frame* frame : taken) pool_.release(frame);
}

TEST_F(CopiesTest, IngressAndEgressMirrorOnceEach) {
  add_session(7, 3);
  const auto ask = [this](dataplane::Packet& packet, std::uint8_t mark) {
    program_.want_mirror(packet, 7, {mark});
  };
  program_.on_ingress = [&](dataplane::Packet& packet) {
    forward_by_first_byte(packet);
    ask(packet, 'i');
  };
  program_.on_egress = [&](dataplane::Packet& packet) {
    if (packet.egress_port == 2 && packet.data[1] == 'E') ask(packet, 'e');
  };
  run({frame_to(2, "Ix"), frame_to(2, "Ey")});
  EXPECT_EQ(port(2).sent, (std::vector{frame_to(2, "Ix"), frame_to(2, "Ey")}));
  EXPECT_EQ(port(3).sent, (std::vector{"i" + frame_to(2, "Ix"), "i" + frame_to(2, "Ey"),
                                       "e" + frame_to(2, "Ey")}));
  EXPECT_EQ(port(3).metadata.at(0).qid, 3);
}

// A mirror copy that asks for a mirror copy must not keep the switch from anything else.
TEST_F(CopiesTest, EndlessMirroringLeavesTimeForOthers) {
  add_session(7, 3);
  program_.on_egress = [this](dataplane::Packet& packet) { program_.want_mirror(packet, 7, {}); };
  run({frame_to(2)});
  EXPECT_GT(port(3).sent.size(), 10);
  EXPECT_EQ(pipeline_.next_due_ns(), 0);
  tables_.execute("table_write", {{"updates", {{{"op", "clear"}, {"table", "$mirror.cfg"}}}}});
  pipeline_.flush();
  EXPECT_EQ(pipeline_.next_due_ns(), kNever);
}

TEST_F(CopiesTest, ResubmitPassesIngressOnceMore) {
  std::vector<bool> passes;
  program_.on_ingress = [&](dataplane::Packet& packet) {
    passes.push_back(packet.resubmitted);
    packet.resubmit = !packet.resubmitted;
    if (packet.resubmitted) forward_by_first_byte(packet);
  };
  run({frame_to(2)});
  EXPECT_EQ(passes, (std::vector{false, true}));
  EXPECT_EQ(port(2).sent.size(), 1);
}

TEST_F(CopiesTest, RecirculatedFrameArrivesAtItsPort) {
  std::vector<int> ingress_ports;
  std::vector<std::uint32_t> headrooms;
  program_.on_ingress = [&](dataplane::Packet& packet) {
    ingress_ports.push_back(packet.ingress_port);
    headrooms.push_back(packet.headroom);
    packet.has_ucast_egress_port = true;
    packet.ucast_egress_port = ingress_ports.size() < 3 ? 196 : 2;
  };
  program_.on_egress = [](dataplane::Packet& packet) {  // one byte more in each pass
    *--packet.data = 'p';
    --packet.headroom;
    ++packet.length;
  };
  run({frame_to(0)});
  EXPECT_EQ(ingress_ports, (std::vector{1, 196, 196}));
  EXPECT_EQ(headrooms, std::vector<std::uint32_t>(3, dataplane::kHeadroom));
  EXPECT_EQ(port(2).sent, std::vector{"ppp" + frame_to(0)});
  EXPECT_EQ(ports_.find(196)->counters().rx_packets, 2);
  EXPECT_EQ(ports_.find(196)->counters().tx_packets, 2);
}

TEST_F(CopiesTest, FramesThatGoRoundForEverLeaveTimeAndBuffersForOthers) {
  program_.on_ingress = [](dataplane::Packet& packet) {
    packet.has_ucast_egress_port = true;
    packet.ucast_egress_port = packet.data[0] == 2 ? 2 : 68;
  };
  for (int i = 0; i < 20; ++i) run(std::vector<std::string>(30, frame_to(68)));
  EXPECT_GT(dropped_at(68, DropReason::kQueueLimit), 0);
  run({frame_to(2)});
  EXPECT_EQ(port(2).sent.size(), 1);
  EXPECT_EQ(pipeline_.next_due_ns(), 0);
  program_.on_ingress = [](dataplane::Packet&) {};
  pipeline_.flush();
  EXPECT_EQ(pipeline_.next_due_ns(), kNever);
}

// Nothing is sent, so that only the switch's own allocations count.
TEST_F(CopiesTest, NothingIsAllocatedPerCopy) {
  add_group(1, {68, 69});
  program_.on_ingress = [](dataplane::Packet& packet) {
    if (packet.ingress_port == 1) packet.mcast_grp_a = 1;
  };
  const auto round = [this] {
    Frame* frame = pool_.acquire();
    frame->reset(60);
    pipeline_.process(std::span(&frame, 1), port(1));
    pipeline_.flush();
  };
  round();
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(ports_.find(69)->counters().rx_packets, 101);
}

}  // namespace
}  // namespace turntable::softswitch
