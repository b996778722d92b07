// What is asked of the kernel about an interface.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <string>

#include "common/unique_fd.h"

namespace turntable::net {

class NetworkInterface {
 public:
  // Throws std::runtime_error that names the interface if there is none; it begins with `where`.
  explicit NetworkInterface(const std::string& name, const std::string& where = "");

  int index() const { return index_; }
  bool is_up() const;
  // "up", "down" or "removed" (it has gone or was replaced).
  std::string state() const;
  std::array<std::uint8_t, 6> link_address() const;
  std::uint32_t mtu() const;             // bytes of an IP packet
  std::uint32_t receive_queues() const;  // 1 where the driver does not say

  // While this is open no other process has the interface for `purpose`, a word. None: one has it.
  UniqueFd claim(const std::string& purpose) const;

 private:
  std::string name_;
  int index_;
  UniqueFd control_;  // for ioctl
};

// The interface that has this address. Empty: none of this network namespace has.
std::string interface_with(const sockaddr_in& address);

}  // namespace turntable::net
