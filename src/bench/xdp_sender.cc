#include "bench/xdp_sender.h"

#include <linux/if_xdp.h>
#include <sched.h>

#include <cstring>

namespace turntable::bench {
namespace {

constexpr std::uint32_t kFrames = 1024;   // that are added or on their way to the receiver
constexpr std::uint32_t kToReceive = 64;  // of which it makes no use

}  // namespace

XdpSender::XdpSender(const std::string& interface)
    : memory_(interface, {.receive = kToReceive, .send = kFrames, .bytes = kMaxFrame}),
      socket_(memory_, interface,
              {.receive_slots = 0, .send_slots = kFrames, .bind_flags = XDP_COPY}) {
  for (std::uint64_t i = 0; i < kFrames; ++i) free_.push_back(memory_.send_chunk(i));
}

void XdpSender::add(std::span<const std::uint8_t> frame) {
  while (free_.empty()) {
    flush();
    collect_sent();
    if (free_.empty()) ::sched_yield();  // the receivers have them all
  }
  std::memcpy(memory_.at(free_.back()), frame.data(), frame.size());
  socket_.submit(free_.back(), static_cast<std::uint32_t>(frame.size()));  // there is room for all
  free_.pop_back();
}

void XdpSender::flush() {
  socket_.send();
}

void XdpSender::collect_sent() {
  memory_.collect_sent([this](std::uint64_t address) { free_.push_back(address); });
}

}  // namespace turntable::bench
