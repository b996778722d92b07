// Link addresses of the hosts on an interface's link, from the kernel's table of neighbours. Hosts
// behind a router are not known.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "common/unique_fd.h"
#include "net/udp_frame.h"

namespace turntable::net {

class Neighbours {
 public:
  Neighbours(std::string interface, int interface_index);

  // Asked of the kernel once; where it has to ask the link, waits up to 0.2 s. Nothing: nobody
  // answers, which is believed for a second.
  std::optional<LinkAddress> find(in_addr address) noexcept;

 private:
  struct Entry {
    in_addr_t address = INADDR_ANY;  // none
    bool known = false;
    LinkAddress link{};
    std::int64_t ask_again_ns = 0;
  };

  Entry& place_of(in_addr address) noexcept;
  std::optional<LinkAddress> in_table(in_addr address) const noexcept;
  void ask_the_link(in_addr address) const noexcept;
  std::optional<LinkAddress> resolve(in_addr address) const noexcept;

  std::string interface_;
  int interface_index_;
  UniqueFd control_;  // for ioctl
  UniqueFd netlink_;
  std::array<Entry, 1024> entries_;
};

}  // namespace turntable::net
