// How the requests of an open loop look, and what its answers must be (load/open_loop_thread.h).
//
// A request's id is 1 + its number; nothing is sent twice, so an answer beyond the first is a twin
// that the network made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "farreach/kv/open_book.h"
#include "farreach/kv/open_order.h"
#include "farreach/kv/packet.h"
#include "farreach/kv/replay.h"
#include "load/open_loop.h"
#include "net/datagrams.h"

namespace turntable::kv {

class OpenCodec {
 public:
  static constexpr std::size_t kMaxDatagrams = 1;
  // A longer value does not fit into one datagram.
  static constexpr std::uint32_t kLongestValue = kFragmentBytes;

  // All must outlive this object.
  OpenCodec(const OpenOrder& order, const Replay& replay, std::uint32_t value_bytes, OpenBook& book)
      : order_(&order), replay_(&replay), book_(&book), value_(value_bytes) {}

  unsigned send(std::uint64_t number, std::int64_t now_ns, net::Datagrams& out) noexcept;
  std::optional<std::uint64_t> decode(const net::Datagrams::Received& datagram) noexcept;
  void counted(const load::OpenLoop::Counted& answer) noexcept;
  // A datagram that could not be sent; the tag is its running partition.
  void refused(std::uint32_t running) noexcept;

 private:
  void check_contents(const Packet& answer, const OpenOrder::Request& request) noexcept;
  void keep_copy(const Packet& answer, const OpenOrder::Request& request) noexcept;
  bool is_value_of(const Packet& answer, const OpenOrder::Request& get) const noexcept;

  const OpenOrder* order_;
  const Replay* replay_;
  OpenBook* book_;
  std::vector<std::uint8_t> value_;  // what is being sent
  // Of the answer decoded last.
  std::uint16_t running_ = 0;
  bool by_switch_ = false;
};

}  // namespace turntable::kv
