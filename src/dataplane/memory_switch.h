// A switch in memory for packet tests: one program, no links, no time. It plays the traffic manager
// as softswitch does: unicast copies only; a multicast group without members sends nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/program.h"

namespace turntable::dataplane {

struct Frame {
  std::uint16_t port;
  std::string bytes;
};

class MemorySwitch {
 public:
  explicit MemorySwitch(Program& program);

  // What leaves the switch because of one frame that arrives at `port`.
  std::vector<Frame> inject(const Frame& frame);

 private:
  Program& program_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace turntable::dataplane
