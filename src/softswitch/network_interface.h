// What the switch asks the kernel about an interface.
#pragma once

#include <cstdint>
#include <string>

#include "common/unique_fd.h"

namespace turntable::softswitch {

class NetworkInterface {
 public:
  // Throws std::runtime_error that names the port and the interface if there is none.
  NetworkInterface(std::uint16_t port, const std::string& name);

  int index() const { return index_; }
  bool is_up() const;
  // "up", "down" or "removed" (it has gone or was replaced).
  std::string state() const;
  std::uint32_t mtu() const;             // bytes of an IP packet
  std::uint32_t receive_queues() const;  // 1 where the driver does not say

 private:
  std::string name_;
  int index_;
  UniqueFd control_;  // for ioctl
};

}  // namespace turntable::softswitch
