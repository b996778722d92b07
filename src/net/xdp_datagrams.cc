#include "net/xdp_datagrams.h"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/udp.h"

namespace turntable::net {
namespace {

constexpr std::uint32_t kMinReceiveSlots = 64;
constexpr std::uint32_t kMaxReceiveSlots = 4096;

std::uint32_t slots_for(std::size_t datagrams) {
  const auto wanted =
      static_cast<std::uint32_t>(std::min<std::size_t>(datagrams, kMaxReceiveSlots));
  return std::bit_ceil(std::max(wanted, kMinReceiveSlots));
}

}  // namespace

XdpDatagrams::XdpDatagrams(const DatagramSettings& settings)
    : reserved_(open_udp(settings.local, /*datagrams=*/1)),
      interface_(XdpInterface::of(settings.interface, settings.local.sin_addr)),
      neighbours_(settings.interface, interface_->link().index()),
      share_(interface_->take_share()),
      receive_slots_(slots_for(settings.queued)),
      datagram_bytes_(settings.datagram_bytes),
      connected_(settings.remote.has_value()),
      spare_(kUdpFrameHeaders + settings.datagram_bytes) {
  if (kUdpFrameHeaders + datagram_bytes_ > interface_->longest_frame()) {
    throw bad_argument("datagrams of " + std::to_string(datagram_bytes_) +
                       " bytes; expected at most " +
                       std::to_string(interface_->longest_frame() - kUdpFrameHeaders) +
                       " with af_xdp at interface " + settings.interface);
  }
  flow_.link_from = interface_->link().link_address();
  flow_.from = address_of(reserved_.get());
  if (connected_) {
    connect_udp(reserved_.get(), *settings.remote);  // is there a way?
    peer_ = *settings.remote;
    if (!neighbours_.find(peer_.sin_addr)) {
      throw CommandError("unavailable",
                         "interface " + settings.interface + ": nobody has the address " +
                             ::inet_ntoa(peer_.sin_addr) + "; expected a host on the same link");
    }
  }
  read_.reserve(kBatch);
  free_.reserve(std::size_t{2} * XdpInterface::kSendChunks);
  interface_->collect_sent(share_, free_);
  socket_ = interface_->open_socket(ntohs(flow_.from.sin_port), receive_slots_);
}

XdpDatagrams::~XdpDatagrams() {
  interface_->close_socket(ntohs(flow_.from.sin_port), std::move(socket_));
  interface_->give_to_receive(read_);
  for (std::size_t i = begin_; i < end_; ++i) {
    if (leaving_[i].error != ENOBUFS) free_.push_back(leaving_[i].chunk);
  }
  interface_->give_back_share(share_, free_);
}

int XdpDatagrams::receive() noexcept {
  recycle();
  xsk_ring_cons& ring = socket_->received();
  std::uint32_t at = 0;
  const auto count = ::xsk_ring_cons__peek(&ring, kBatch, &at);
  if (count == 0) return 0;
  const std::int64_t to_realtime_ns = -realtime_to_monotonic_ns();
  for (std::uint32_t i = 0; i < count; ++i)
    take_in(*::xsk_ring_cons__rx_desc(&ring, at++), to_realtime_ns);
  ::xsk_ring_cons__release(&ring, count);
  return static_cast<int>(received_count_);
}

// Gives the last batch's chunks back.
void XdpDatagrams::recycle() noexcept {
  received_count_ = 0;
  if (read_.empty()) return;
  interface_->give_to_receive(read_);
  read_.clear();
}

void XdpDatagrams::take_in(const xdp_desc& arrived, std::int64_t to_realtime_ns) noexcept {
  read_.push_back(arrived.addr);
  std::uint8_t* const bytes = interface_->at(arrived.addr);
  XdpInterface::Stamp stamp;
  std::memcpy(&stamp, bytes - sizeof stamp, sizeof stamp);
  // So that it is not taken for the next frame's where the driver has no room for stamps.
  std::memset(bytes - sizeof stamp, 0, sizeof stamp);
  const auto frame = parse_udp_frame({bytes, arrived.len});
  if (!frame) {
    wrong_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (connected_ && !same_endpoint(frame->from, peer_)) return;
  received_[received_count_++] = {
      .bytes = frame->payload.first(std::min(frame->payload.size(), datagram_bytes_)),
      .from = frame->from,
      .has_stamp = stamp != 0,
      .received_ns = stamp != 0 ? static_cast<std::int64_t>(stamp) + to_realtime_ns : 0,
      .truncated = frame->payload.size() > datagram_bytes_};
}

// Where the next frame is written.
std::uint8_t* XdpDatagrams::chunk_or_spare() noexcept {
  return free_.empty() ? spare_.data() : interface_->at(free_.back());
}

std::span<std::uint8_t> XdpDatagrams::buffer() noexcept {
  if (free_.empty()) interface_->collect_sent(share_, free_);
  return {chunk_or_spare() + kUdpFrameHeaders, datagram_bytes_};
}

// Of the next datagram. Answers 0 or an errno.
int XdpDatagrams::address(const sockaddr_in* to) noexcept {
  if (to == nullptr && !connected_) return EDESTADDRREQ;
  const sockaddr_in& target = to == nullptr ? peer_ : *to;
  if (target.sin_addr.s_addr != flow_.to.sin_addr.s_addr) {
    const auto link = neighbours_.find(target.sin_addr);
    if (!link) return EHOSTUNREACH;
    flow_.link_to = *link;
  }
  flow_.to = target;
  return 0;
}

void XdpDatagrams::add(std::size_t bytes, const sockaddr_in* to, std::uint8_t dscp,
                       std::uint32_t tag) noexcept {
  const std::size_t frame_bytes = kUdpFrameHeaders + bytes;
  Leaving& leaving = leaving_[end_++];
  leaving = {.chunk = 0, .bytes = static_cast<std::uint32_t>(frame_bytes), .tag = tag, .error = 0};
  if (free_.empty()) {
    leaving.error = ENOBUFS;
    return;
  }
  leaving.error = frame_bytes - sizeof(ethhdr) > interface_->mtu() ? EMSGSIZE : address(to);
  leaving.chunk = free_.back();
  free_.pop_back();
  if (leaving.error == 0)
    write_udp_headers({interface_->at(leaving.chunk), frame_bytes}, flow_, dscp);
}

void XdpDatagrams::flush(std::size_t count, FailedCallback failed) noexcept {
  for (const std::size_t end = begin_ + count; begin_ < end; ++begin_) {
    Leaving& leaving = leaving_[begin_];
    if (leaving.error == 0 && !socket_->submit(leaving.chunk, leaving.bytes))
      leaving.error = EAGAIN;
    if (leaving.error == 0) continue;
    if (leaving.error != ENOBUFS) free_.push_back(leaving.chunk);
    failed(leaving.tag, leaving.error);
  }
  if (begin_ == end_) begin_ = end_ = 0;
  socket_->send();
  if (free_.size() < kBatch) interface_->collect_sent(share_, free_);
}

std::size_t XdpDatagrams::buffer_bytes() const {
  return std::size_t{receive_slots_} * interface_->longest_frame();
}

std::uint32_t XdpDatagrams::drops() const {
  return static_cast<std::uint32_t>(socket_->dropped()) + wrong_.load(std::memory_order_relaxed);
}

}  // namespace turntable::net
