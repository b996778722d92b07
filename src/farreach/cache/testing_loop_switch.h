// A switch in memory, for tests of nodes with an event loop.
#pragma once

#include "farreach/cache/testing.h"
#include "net/event_loop.h"

namespace turntable::cache::testing {

// A FakeSwitch whose frames go through the loop.
class LoopSwitch final : public FakeSwitch {
 public:
  LoopSwitch(net::EventLoop& loop, FakeServers& servers) : FakeSwitch(servers), loop_(loop) {}

  bool holds_frames = false;
  unsigned held_frames = 0;

  void write_tables(const Json& updates) override {
    if (updates.empty()) return;
    const std::string table = updates.front().at("table");
    if (table == kCacheLookup || table == "snapshot") FakeSwitch::write_tables(updates);
  }
  void send(const ControlFrame& frame) override {
    if (holds_frames) {
      ++held_frames;
      return;  // the agent sends it again
    }
    FakeSwitch::send(frame);
    loop_.call_soon([this] { deliver(); });
  }

 private:
  net::EventLoop& loop_;
};

}  // namespace turntable::cache::testing
