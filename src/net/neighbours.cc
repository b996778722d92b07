#include "net/neighbours.h"

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/clock.h"
#include "common/deadline.h"
#include "common/errno_error.h"

namespace turntable::net {
namespace {

constexpr double kAnswersWithinS = 0.2;
constexpr std::chrono::milliseconds kProbeInterval(1);
constexpr std::int64_t kAskAgainNs = 1'000'000'000;
constexpr std::size_t kProbes = 8;  // places of the cache that an address may have

}  // namespace

Neighbours::Neighbours(std::string interface, int interface_index)
    : interface_(std::move(interface)),
      interface_index_(interface_index),
      control_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
      netlink_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
  if (!control_ || !netlink_) throw errno_error("cannot create a socket");
}

std::optional<LinkAddress> Neighbours::find(in_addr address) noexcept {
  Entry& entry = place_of(address);
  const bool is_cached = entry.address == address.s_addr;
  if (is_cached && entry.known) return entry.link;
  if (is_cached && monotonic_ns() < entry.ask_again_ns) return std::nullopt;
  const auto found = resolve(address);
  entry = {.address = address.s_addr,
           .known = found.has_value(),
           .link = found.value_or(LinkAddress{}),
           .ask_again_ns = monotonic_ns() + kAskAgainNs};
  return found;
}

// Where the address is; else a free place; else one of somebody else, who will be asked for again.
Neighbours::Entry& Neighbours::place_of(in_addr address) noexcept {
  const std::size_t first = (address.s_addr * 2654435761U) >> 22U;
  Entry* free = nullptr;
  for (std::size_t i = 0; i < kProbes; ++i) {
    Entry& entry = entries_[(first + i) % entries_.size()];
    if (entry.address == address.s_addr) return entry;
    if (entry.address == INADDR_ANY && free == nullptr) free = &entry;
  }
  return free != nullptr ? *free : entries_[first];
}

std::optional<LinkAddress> Neighbours::resolve(in_addr address) const noexcept {
  auto found = in_table(address);
  if (found) return found;
  ask_the_link(address);
  const Deadline deadline = Deadline::after_seconds(kAnswersWithinS);
  while (!found && !deadline.passed()) {
    std::this_thread::sleep_for(kProbeInterval);  // waits: interval of a probe with a deadline
    found = in_table(address);
  }
  return found;
}

std::optional<LinkAddress> Neighbours::in_table(in_addr address) const noexcept {
  arpreq request{};
  sockaddr_in protocol_address{};
  protocol_address.sin_family = AF_INET;
  protocol_address.sin_addr = address;
  std::memcpy(&request.arp_pa, &protocol_address, sizeof protocol_address);
  interface_.copy(request.arp_dev, sizeof request.arp_dev - 1);
  if (::ioctl(control_.get(), SIOCGARP, &request) != 0 || (request.arp_flags & ATF_COM) == 0)
    return std::nullopt;
  LinkAddress link;
  std::memcpy(link.data(), request.arp_ha.sa_data, link.size());
  return link;
}

void Neighbours::ask_the_link(in_addr address) const noexcept {
  struct {
    nlmsghdr header;
    ndmsg neighbour;
    rtattr attribute;
    in_addr address;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_NEWNEIGH;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE;
  request.neighbour.ndm_family = AF_INET;
  request.neighbour.ndm_ifindex = interface_index_;
  request.neighbour.ndm_flags = NTF_USE;
  request.attribute = {.rta_len = RTA_LENGTH(sizeof address), .rta_type = NDA_DST};
  request.address = address;
  ::send(netlink_.get(), &request, sizeof request, 0);
}

}  // namespace turntable::net
