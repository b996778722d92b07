// Fakes for the tests of the switch: ports in memory and a program given as a function.
#pragma once

#include <sys/eventfd.h>

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/command_error.h"
#include "common/unique_fd.h"
#include "dataplane/control.h"
#include "dataplane/program.h"
#include "softswitch/port.h"

namespace turntable::softswitch::testing {

// Frames are strings. One thread, except inject().
class FakePort : public Port {
 public:
  explicit FakePort(std::uint16_t number)
      : Port(number, "fake" + std::to_string(number), false),
        ready_(::eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE)) {}

  void inject(const std::string& bytes) {
    {
      const std::lock_guard lock(mutex_);
      arriving_.push_back(bytes);
    }
    ::eventfd_write(ready_.get(), 1);
  }

  int fd() const override { return ready_.get(); }

  std::size_t receive(std::span<Frame*> frames) override {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (eventfd_t one = 0; count < frames.size() && !arriving_.empty(); ++count) {
      const std::string& bytes = arriving_.front();
      bytes.copy(reinterpret_cast<char*>(frames[count]->buffer + dataplane::kHeadroom),
                 bytes.size());
      frames[count]->reset(static_cast<std::uint32_t>(bytes.size()));
      arriving_.pop_front();
      ::eventfd_read(ready_.get(), &one);
    }
    counters().rx_packets += count;
    return count;
  }

  void send(std::span<Frame* const> frames) override {
    batches.push_back(frames.size());
    for (const Frame* frame : frames) {
      sent.emplace_back(reinterpret_cast<const char*>(frame->packet.data), frame->packet.length);
      metadata.push_back(frame->packet);
      if (on_send) on_send();
    }
    counters().tx_packets += frames.size();
  }

  std::string link_state() override { return "up"; }

  std::vector<std::string> sent;
  std::vector<dataplane::Packet> metadata;
  std::vector<std::size_t> batches;
  std::function<void()> on_send;

 private:
  UniqueFd ready_;
  std::mutex mutex_;
  std::deque<std::string> arriving_;
};

// A program made of two functions, with one control command, `echo`, that answers its arguments.
class FakeProgram : public dataplane::Program, public dataplane::ControlPlane {
 public:
  using Stage = std::function<void(dataplane::Packet&)>;

  std::size_t digests = 0;   // what digest_read takes
  std::size_t executed = 0;  // other commands
  Stage on_ingress = [](dataplane::Packet&) {};
  Stage on_egress = [](dataplane::Packet&) {};

  // What Mirror.emit does: `header`, then the frame as it is now.
  void want_mirror(dataplane::Packet& packet, std::uint16_t session,
                   const std::vector<std::uint8_t>& header) {
    packet.mirrored = true;
    mirror_copy_.session = session;
    mirror_copy_.header_length = static_cast<std::uint32_t>(header.size());
    std::copy(header.begin(), header.end(), mirror_copy_.header.begin());
    mirror_copy_.front_length = 0;
    mirror_copy_.tail_length = packet.length;
  }

  std::string_view name() const override { return "fake"; }
  std::string_view bfrt_json() const override { return "{}"; }
  dataplane::ControlPlane& control() override { return *this; }
  void ingress(dataplane::Packet& packet) override {
    packet.mirrored = packet.resubmit = false;
    on_ingress(packet);
  }
  void egress(dataplane::Packet& packet) override { on_egress(packet); }

  std::vector<std::string> commands() const override { return {"echo"}; }
  nlohmann::json read_state() override { return {}; }
  void take_state(const nlohmann::json&) override {}
  std::size_t digests_waiting() const override { return digests; }
  nlohmann::json execute(std::string_view command, const nlohmann::json& args) override {
    if (command == "digest_read") {
      nlohmann::json answer = {{"digests", nlohmann::json(std::vector<int>(digests))}};
      digests = 0;
      return answer;
    }
    ++executed;
    if (args.contains("fail")) throw CommandError("full", "the table is full");
    return {{"command", command}, {"args", args}};
  }
};

// Sends to the port whose number is the frame's first byte.
inline void forward_by_first_byte(dataplane::Packet& packet) {
  packet.has_ucast_egress_port = true;
  packet.ucast_egress_port = packet.data[0];
}

inline std::string frame_to(std::uint8_t port, const std::string& rest = "") {
  return std::string(1, static_cast<char>(port)) + rest;
}

}  // namespace turntable::softswitch::testing
