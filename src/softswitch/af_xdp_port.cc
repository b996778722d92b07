#include "softswitch/af_xdp_port.h"

#include <linux/if_xdp.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace turntable::softswitch {
namespace {

using net::bpf;

constexpr std::uint32_t kChunkBytes = 4096;
constexpr std::uint32_t kSendChunks = 2048;
constexpr int kRingRetries = 64;

// return bpf_redirect_map(map, queue, XDP_DROP): a frame goes to the socket of its queue.
std::vector<bpf_insn> redirect_program(int map) {
  return {
      bpf(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, offsetof(xdp_md, rx_queue_index)),
      bpf(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
      bpf(0),  // the upper half of the map's number
      bpf(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, XDP_DROP),
      bpf(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
      bpf(BPF_JMP | BPF_EXIT),
  };
}

UniqueFd map_to(const net::XdpSocket& socket, const std::string& interface) {
  UniqueFd map = net::create_socket_map(interface, net::kXdpQueue + 1);
  socket.enter_into(map.get(), net::kXdpQueue);
  return map;
}

std::uint32_t chunks_in(int bytes) {
  return std::bit_floor(std::max(static_cast<std::uint32_t>(bytes) / kChunkBytes, 16U));
}

// Throws where AF_XDP cannot be used.
std::uint32_t checked_mtu(const net::NetworkInterface& link, const std::string& what,
                          const std::string& interface) {
  const std::uint32_t mtu = link.mtu();
  if (mtu > net::kXdpMaxMtu) {
    throw std::runtime_error(what + "an MTU of " + std::to_string(mtu) + "; af_xdp takes up to " +
                             std::to_string(net::kXdpMaxMtu) + ", use af_packet for longer frames");
  }
  if (const std::uint32_t queues = link.receive_queues(); queues != 1) {
    throw std::runtime_error(what + std::to_string(queues) +
                             " receive queues; af_xdp takes one: ethtool -L " + interface +
                             " combined 1 (or rx 1)");
  }
  return mtu;
}

std::string port_text(std::uint16_t number) {
  return "port " + std::to_string(number) + ": ";
}

}  // namespace

AfXdpPort::AfXdpPort(std::uint16_t number, const std::string& interface, bool is_cpu,
                     int receive_buffer_bytes)
    : Port(number, interface, is_cpu),
      link_(interface, port_text(number)),
      claim_(claim_for_port(link_, number, interface)),
      mtu_(checked_mtu(link_, port_text(number) + "interface " + interface + " has ", interface)),
      memory_(
          interface,
          {.receive = chunks_in(receive_buffer_bytes), .send = kSendChunks, .bytes = kChunkBytes}),
      socket_(memory_, interface,
              {.receive_slots = memory_.chunks().receive,
               .send_slots = kSendChunks,
               .bind_flags = XDP_COPY}),
      map_(map_to(socket_, interface)),
      program_(interface, link_, redirect_program(map_.get())) {
  free_.reserve(kSendChunks);
  for (std::uint64_t i = 0; i < kSendChunks; ++i) free_.push_back(memory_.send_chunk(i));
}

std::size_t AfXdpPort::receive(std::span<Frame*> frames) {
  xsk_ring_cons& received = socket_.received();
  std::uint32_t from = 0;
  const auto count =
      ::xsk_ring_cons__peek(&received, static_cast<std::uint32_t>(frames.size()), &from);
  if (count == 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    const xdp_desc& arrived = *::xsk_ring_cons__rx_desc(&received, from++);
    frames[i]->reset(arrived.len);
    std::memcpy(frames[i]->packet.data, memory_.at(arrived.addr), arrived.len);
    counters().rx_bytes += arrived.len;
    memory_.fill(arrived.addr);
  }
  memory_.filled();
  ::xsk_ring_cons__release(&received, count);
  counters().rx_packets += count;
  return count;
}

void AfXdpPort::send(std::span<Frame* const> frames) {
  // What is given to a socket of a link that is down would leave when it comes up again.
  if (!link_.is_up()) {
    for (const Frame* frame : frames) count_drop(*frame, *this, DropReason::kTxLinkDown);
    return;
  }
  for (const Frame* frame : frames) submit(*frame);
  const std::uint32_t full = socket_.send();
  if (full > 0) counters().drop(DropReason::kTxQueueFull, full);
}

// One that cannot leave is dropped and counted.
void AfXdpPort::submit(const Frame& frame) {
  const dataplane::Packet& packet = frame.packet;
  if (packet.length > mtu_ + net::kLinkHeaderBytes) {
    count_drop(frame, *this, DropReason::kTxOversize);
    return;
  }
  const bool has_room = has_chunk();
  if (has_room) std::memcpy(memory_.at(free_.back()), packet.data, packet.length);
  if (!has_room || !socket_.submit(free_.back(), packet.length)) {
    count_drop(frame, *this, DropReason::kTxQueueFull);
    return;
  }
  free_.pop_back();
  ++counters().tx_packets;
  counters().tx_bytes += packet.length;
  if (frame.trace != nullptr) [[unlikely]]
    frame.trace->sent(number(), packet.length);
}

// A chunk comes back when the frame's receiver has taken it over from this kernel.
bool AfXdpPort::has_chunk() {
  const auto collect = [this] {
    memory_.collect_sent([this](std::uint64_t address) { free_.push_back(address); });
  };
  if (free_.empty()) collect();
  for (int retries = 0; free_.empty() && retries < kRingRetries; ++retries) {
    ::sched_yield();
    collect();
  }
  return !free_.empty();
}

void AfXdpPort::collect_kernel_counters() {
  const std::uint64_t dropped = socket_.dropped();
  counters().drop(DropReason::kRxQueueFull, dropped - dropped_before_);
  dropped_before_ = dropped;
}

}  // namespace turntable::softswitch
