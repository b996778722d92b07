// Which packets are traced: "port=1,udp=1152,count=20". Terms are joined by commas; a packet is
// chosen if all of them hold.
//
//   port=N        arrived at this port            udp=N, tcp=N  to or from this port, over IPv4
//   src=A, dst=A  from or to this IPv4 address    ip=A          either of them
//   ethertype=H   hexadecimal: 0800               match=O:V     the frame's bytes from offset O on
//   every=N       every N-th of those that match  match=O:V/M   are V (hexadecimal), under mask M
//   count=N       the first N (default 100); 0: none; all
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/program.h"

namespace turntable::dataplane {

class TraceFilter {
 public:
  static constexpr std::uint64_t kDefaultCount = 100;

  // Throws CommandError (bad_argument) that names the term and what there is.
  static TraceFilter parse(std::string_view text);

  // Whether the frame, as it arrived, is to be traced. Counts those that match.
  bool choose(const Packet& packet);

 private:
  struct Bytes {
    std::size_t offset;
    std::vector<std::uint8_t> value, mask;
  };
  struct Transport {
    std::uint8_t protocol;
    std::uint16_t port;
  };

  void add_term(std::string_view name, std::string_view value);
  bool matches(const Packet& packet) const;
  bool matches_ipv4(const Packet& packet) const;

  std::optional<std::uint16_t> port_;
  std::optional<std::uint16_t> ethertype_;
  std::optional<std::uint32_t> source_, destination_, either_;
  std::optional<Transport> transport_;
  std::vector<Bytes> bytes_;
  std::uint64_t every_ = 1;
  std::uint64_t count_ = kDefaultCount;

  std::uint64_t matched_ = 0;
  std::uint64_t chosen_ = 0;
};

}  // namespace turntable::dataplane
