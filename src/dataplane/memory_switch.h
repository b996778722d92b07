// A switch in memory for packet tests: one program, no links, no queues, no time. It replicates,
// mirrors, resubmits and recirculates as softswitch does.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "dataplane/fixed_tables.h"
#include "dataplane/program.h"
#include "dataplane/replication.h"

namespace turntable::dataplane {

struct Frame {
  std::uint16_t port;
  std::string bytes;
};

// What is sent to these ports of Tofino 1 comes back as if received there.
inline constexpr bool is_recirculation_port(std::uint16_t port) {
  return (port & 0x7F) >= 68 && (port & 0x7F) < 72;
}

class MemorySwitch {
 public:
  explicit MemorySwitch(Program& program);

  // What leaves the switch because of one frame that arrives at `port` at `now_ns`.
  std::vector<Frame> inject(const Frame& frame, std::uint64_t now_ns = 0);

  // The program's commands, and those of the fixed tables.
  nlohmann::json execute(std::string_view command, const nlohmann::json& args);

 private:
  // A frame on its way through egress.
  struct Copy {
    std::string bytes;
    std::uint16_t port;
    std::uint16_t rid;
    std::uint8_t qid;
    bool bypass_egress;
  };

  Packet load(const std::string& bytes);
  void ingress(const Frame& frame);
  void replicate(const Packet& packet);
  void mirror(const Packet& packet, bool from_ingress);
  void egress(const Copy& copy);
  void leave(std::uint16_t port, std::string bytes);

  Program& program_;
  Replication replication_;
  FixedTables fixed_tables_;
  std::vector<std::uint8_t> buffer_;
  std::vector<Replication::Copy> multicast_copies_;
  std::uint64_t now_ns_ = 0;
  std::deque<Frame> arrived_;
  std::deque<Copy> queued_;
  std::vector<Frame> left_;
};

}  // namespace turntable::dataplane
