// UDP over IPv4 in Ethernet frames, without VLAN tags and IP options.
#pragma once

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace turntable::net {

using LinkAddress = std::array<std::uint8_t, ETH_ALEN>;

inline constexpr std::size_t kUdpFrameHeaders = sizeof(ethhdr) + sizeof(iphdr) + sizeof(udphdr);

// The sum that Internet checksums are made of (RFC 1071): of 16-bit words as they lie in memory, so
// that its complement is stored as it is on any machine. To be folded.
inline std::uint64_t internet_sum(const std::uint8_t* data, std::size_t bytes) noexcept {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 4 <= bytes; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, data + i, 4);
    sum += word;
  }
  std::uint32_t rest = 0;
  std::memcpy(&rest, data + i, bytes - i);  // an odd last byte is followed by zero
  return sum + rest;
}

inline std::uint16_t fold(std::uint64_t sum) noexcept {
  sum = (sum & 0xffffffff) + (sum >> 32);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

// Of what a UDP checksum covers beside the datagram.
inline std::uint64_t pseudo_header_sum(const iphdr& ip, std::uint16_t udp_length) noexcept {
  return std::uint64_t{ip.saddr} + ip.daddr + htons(IPPROTO_UDP) + udp_length;
}

struct UdpFlow {
  LinkAddress link_from;
  LinkAddress link_to;
  sockaddr_in from;
  sockaddr_in to;
};

// Writes the headers of `frame`; the payload lies behind them already.
inline void write_udp_headers(std::span<std::uint8_t> frame, const UdpFlow& flow,
                              std::uint8_t dscp) noexcept {
  ethhdr ethernet;
  std::memcpy(ethernet.h_dest, flow.link_to.data(), ETH_ALEN);
  std::memcpy(ethernet.h_source, flow.link_from.data(), ETH_ALEN);
  ethernet.h_proto = htons(ETH_P_IP);
  iphdr ip{};
  ip.version = IPVERSION;
  ip.ihl = sizeof(iphdr) / 4;
  ip.tos = static_cast<std::uint8_t>(dscp << 2);  // the lower two bits are ECN's
  ip.tot_len = htons(static_cast<std::uint16_t>(frame.size() - sizeof ethernet));
  ip.frag_off = htons(IP_DF);
  ip.ttl = IPDEFTTL;
  ip.protocol = IPPROTO_UDP;
  ip.saddr = flow.from.sin_addr.s_addr;
  ip.daddr = flow.to.sin_addr.s_addr;
  ip.check = static_cast<std::uint16_t>(
      ~fold(internet_sum(reinterpret_cast<const std::uint8_t*>(&ip), sizeof ip)));
  udphdr udp{};
  udp.source = flow.from.sin_port;
  udp.dest = flow.to.sin_port;
  const std::size_t udp_bytes = frame.size() - sizeof ethernet - sizeof ip;
  udp.len = htons(static_cast<std::uint16_t>(udp_bytes));
  std::uint8_t* const at = frame.data() + sizeof ethernet + sizeof ip;
  std::memcpy(at, &udp, sizeof udp);
  udp.check = static_cast<std::uint16_t>(
      ~fold(pseudo_header_sum(ip, udp.len) + internet_sum(at, udp_bytes)));
  if (udp.check == 0) udp.check = 0xffff;  // 0 says that there is none
  std::memcpy(frame.data(), &ethernet, sizeof ethernet);
  std::memcpy(frame.data() + sizeof ethernet, &ip, sizeof ip);
  std::memcpy(at, &udp, sizeof udp);
}

struct UdpFrame {
  std::span<const std::uint8_t> payload;
  sockaddr_in from{};
};

// Nothing: no datagram, a length that is not so, or a wrong checksum. A datagram of this machine
// whose checksum was left to the link has the sum of the pseudo header in its place, and is right.
inline std::optional<UdpFrame> parse_udp_frame(std::span<const std::uint8_t> frame) noexcept {
  if (frame.size() < kUdpFrameHeaders) return std::nullopt;
  iphdr ip;
  udphdr udp;
  const std::uint8_t* const ip_at = frame.data() + sizeof(ethhdr);
  const std::uint8_t* const udp_at = ip_at + sizeof ip;
  std::memcpy(&ip, ip_at, sizeof ip);
  std::memcpy(&udp, udp_at, sizeof udp);
  const std::size_t ip_bytes = ntohs(ip.tot_len);
  const std::size_t udp_bytes = ntohs(udp.len);
  if (ip.version != IPVERSION || ip.ihl != sizeof ip / 4 || ip.protocol != IPPROTO_UDP ||
      ip_bytes > frame.size() - sizeof(ethhdr) || udp_bytes < sizeof udp ||
      sizeof ip + udp_bytes > ip_bytes || fold(internet_sum(ip_at, sizeof ip)) != 0xffff)
    return std::nullopt;
  if (udp.check != 0) {
    const std::uint64_t pseudo = pseudo_header_sum(ip, udp.len);
    if (fold(pseudo + internet_sum(udp_at, udp_bytes)) != 0xffff && udp.check != fold(pseudo))
      return std::nullopt;
  }
  UdpFrame parsed{.payload = {udp_at + sizeof udp, udp_bytes - sizeof udp}};
  parsed.from.sin_family = AF_INET;
  parsed.from.sin_addr.s_addr = ip.saddr;
  parsed.from.sin_port = udp.source;
  return parsed;
}

}  // namespace turntable::net
