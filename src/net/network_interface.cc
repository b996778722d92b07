#include "net/network_interface.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include "common/errno_error.h"

namespace turntable::net {
namespace {

ifreq request_for(const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

}  // namespace

NetworkInterface::NetworkInterface(const std::string& name, const std::string& where)
    : name_(name),
      index_(static_cast<int>(::if_nametoindex(name.c_str()))),
      control_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (index_ == 0) {
    throw std::runtime_error(where + "there is no interface \"" + name +
                             "\" in this network namespace; `ip link` shows them");
  }
  if (!control_) throw errno_error("cannot create a socket");
}

bool NetworkInterface::is_up() const {
  ifreq request = request_for(name_);
  return ::ioctl(control_.get(), SIOCGIFFLAGS, &request) == 0 &&
         (request.ifr_flags & IFF_RUNNING) != 0;
}

std::string NetworkInterface::state() const {
  if (static_cast<int>(::if_nametoindex(name_.c_str())) != index_) return "removed";
  return is_up() ? "up" : "down";
}

std::array<std::uint8_t, 6> NetworkInterface::link_address() const {
  ifreq request = request_for(name_);
  if (::ioctl(control_.get(), SIOCGIFHWADDR, &request) != 0)
    throw errno_error("interface " + name_ + ": cannot read its link address");
  std::array<std::uint8_t, 6> address;
  std::copy_n(reinterpret_cast<const std::uint8_t*>(request.ifr_hwaddr.sa_data), address.size(),
              address.begin());
  return address;
}

std::uint32_t NetworkInterface::mtu() const {
  ifreq request = request_for(name_);
  if (::ioctl(control_.get(), SIOCGIFMTU, &request) != 0)
    throw errno_error("interface " + name_ + ": cannot read its MTU");
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

std::uint32_t NetworkInterface::receive_queues() const {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  ifreq request = request_for(name_);
  request.ifr_data = reinterpret_cast<char*>(&channels);
  if (::ioctl(control_.get(), SIOCETHTOOL, &request) != 0) return 1;
  return std::max(1U, channels.rx_count + channels.combined_count);
}

// By an abstract name, which ends with the process; network namespaces have names of their own.
UniqueFd NetworkInterface::claim(const std::string& purpose) const {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) throw errno_error("cannot create a socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "turntable-" + purpose + "-" + std::to_string(index_);
  const std::size_t size = name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return {};
  return socket;
}

std::string interface_with(const sockaddr_in& address) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) throw errno_error("cannot read the addresses of interfaces");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, ::freeifaddrs);
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    const auto* theirs = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    if (theirs->sin_addr.s_addr == address.sin_addr.s_addr) return each->ifa_name;
  }
  return "";
}

}  // namespace turntable::net
