// The control plane's end of the switch's CPU port: an interface, usually of a veth pair.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "common/unique_fd.h"

namespace turntable::p4runtime_server {

class CpuPort {
 public:
  // Called on a thread of this object with each frame that the switch sends.
  using OnFrame = std::function<void(std::string_view frame)>;

  // Throws std::runtime_error that names the interface. Needs CAP_NET_RAW.
  CpuPort(const std::string& interface, OnFrame on_frame);
  ~CpuPort();
  CpuPort(const CpuPort&) = delete;
  CpuPort& operator=(const CpuPort&) = delete;

  // Never waits. Thread-safe. Throws Refusal: INVALID_ARGUMENT a frame that is too short, or longer
  // than the interface's MTU; RESOURCE_EXHAUSTED the interface takes no more now; UNAVAILABLE it is
  // down.
  void send(std::string_view frame);

 private:
  void receive_all();

  std::string interface_;
  OnFrame on_frame_;
  UniqueFd socket_;
  UniqueFd stop_;
  std::thread thread_;
};

}  // namespace turntable::p4runtime_server
