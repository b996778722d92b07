// The nodes that a node talks with, by their numbers in the order of the command that named them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "homa/grant_scheduler.h"
#include "net/ipv4.h"

namespace turntable::homa {

class Peers {
 public:
  explicit Peers(std::vector<sockaddr_in> addresses) : addresses_(std::move(addresses)) {
    for (const sockaddr_in& address : addresses_) {
      const auto number = static_cast<Peer>(numbers_.size());
      numbers_.emplace(key_of(address), number);
      hosts_.emplace(address.sin_addr.s_addr, number);
    }
  }

  std::size_t size() const noexcept { return addresses_.size(); }
  const sockaddr_in& address(Peer peer) const noexcept { return addresses_[peer]; }

  // Nothing: a stranger.
  std::optional<Peer> find(const sockaddr_in& address) const noexcept {
    const auto found = numbers_.find(key_of(address));
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  // By its address alone: connections come from any port. Nothing: a stranger.
  std::optional<Peer> find_host(const sockaddr_in& address) const noexcept {
    const auto found = hosts_.find(address.sin_addr.s_addr);
    return found == hosts_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static std::uint64_t key_of(const sockaddr_in& address) noexcept {
    return std::uint64_t{address.sin_addr.s_addr} << 16U | address.sin_port;
  }

  std::vector<sockaddr_in> addresses_;
  std::unordered_map<std::uint64_t, Peer> numbers_;
  std::unordered_map<std::uint32_t, Peer> hosts_;  // the first of each
};

}  // namespace turntable::homa
