#include "softswitch/af_xdp_port.h"

#include <bpf/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "common/deadline.h"
#include "common/errno_error.h"

namespace turntable::softswitch {
namespace {

constexpr std::uint32_t kQueue = 0;
constexpr std::uint32_t kChunkBytes = 4096;
constexpr std::uint32_t kSendChunks = 2048;
// Of a chunk the kernel keeps 256 bytes in front of the frame; a veth pair takes an XDP program up
// to an MTU of about 3,500.
constexpr std::uint32_t kMaxMtu = 3500;
constexpr std::uint32_t kLinkHeaderBytes = 18;  // Ethernet with one VLAN tag
constexpr int kSendRetries = 64;
constexpr double kQueueDeadlineS = 5;
constexpr std::chrono::milliseconds kProbeInterval(5);

// return bpf_redirect_map(map, queue, XDP_DROP): a frame goes to the socket of its queue.
std::vector<bpf_insn> redirect_program(int map) {
  const auto instruction = [](int code, int destination, int source, int offset, int value) {
    bpf_insn result{};
    result.code = static_cast<std::uint8_t>(code);
    result.dst_reg = destination & 0xF;
    result.src_reg = source & 0xF;
    result.off = static_cast<std::int16_t>(offset);
    result.imm = value;
    return result;
  };
  return {
      instruction(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, offsetof(xdp_md, rx_queue_index),
                  0),
      instruction(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
      instruction(0, 0, 0, 0, 0),  // the upper half of the map's number
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, XDP_DROP),
      instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  };
}

std::uint32_t chunks_in(int bytes) {
  return std::bit_floor(std::max(static_cast<std::uint32_t>(bytes) / kChunkBytes, 16U));
}

}  // namespace

AfXdpPort::AfXdpPort(std::uint16_t number, const std::string& interface, bool is_cpu,
                     int receive_buffer_bytes)
    : Port(number, interface, is_cpu),
      link_(number, interface),
      receive_chunks_(chunks_in(receive_buffer_bytes)),
      mtu_(link_.mtu()) {
  const std::string what = "port " + std::to_string(number) + ": interface " + interface + " has ";
  if (mtu_ > kMaxMtu) {
    throw std::runtime_error(what + "an MTU of " + std::to_string(mtu_) + "; af_xdp takes up to " +
                             std::to_string(kMaxMtu) + ", use af_packet for longer frames");
  }
  if (const std::uint32_t queues = link_.receive_queues(); queues != 1) {
    throw std::runtime_error(what + std::to_string(queues) +
                             " receive queues; af_xdp takes one: ethtool -L " + interface +
                             " combined 1 (or rx 1)");
  }
  create_umem();
  create_socket();
  attach_program();
}

AfXdpPort::~AfXdpPort() {
  attachment_.reset();
  if (socket_ != nullptr) ::xsk_socket__delete(socket_);
  if (umem_ != nullptr) ::xsk_umem__delete(umem_);
  if (memory_ != nullptr) ::munmap(memory_, memory_bytes_);
}

void AfXdpPort::expect(int result, const char* what) const {
  if (result < 0) throw errno_error("interface " + interface() + ": " + what, -result);
}

// The first chunks are the kernel's to receive into, the others ours to send from.
void AfXdpPort::create_umem() {
  memory_bytes_ = std::size_t{receive_chunks_ + kSendChunks} * kChunkBytes;
  void* memory =
      ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw errno_error("cannot map memory for AF_XDP");
  memory_ = static_cast<std::uint8_t*>(memory);
  const xsk_umem_config config{.fill_size = receive_chunks_,
                               .comp_size = kSendChunks,
                               .frame_size = kChunkBytes,
                               .frame_headroom = 0,
                               .flags = 0};
  expect(::xsk_umem__create(&umem_, memory_, memory_bytes_, &fill_, &completion_, &config),
         "cannot register memory for AF_XDP");
  std::uint32_t index = 0;
  ::xsk_ring_prod__reserve(&fill_, receive_chunks_, &index);
  for (std::uint64_t i = 0; i < receive_chunks_; ++i)
    *::xsk_ring_prod__fill_addr(&fill_, index++) = i * kChunkBytes;
  ::xsk_ring_prod__submit(&fill_, receive_chunks_);
  free_.reserve(kSendChunks);
  for (std::uint64_t i = 0; i < kSendChunks; ++i)
    free_.push_back((receive_chunks_ + i) * kChunkBytes);
}

void AfXdpPort::create_socket() {
  xsk_socket_config config{};
  config.rx_size = receive_chunks_;
  config.tx_size = kSendChunks;
  config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
  config.bind_flags = XDP_COPY;
  // The kernel gives a queue back some time after the process that had it has ended.
  const Deadline given_back = Deadline::after_seconds(kQueueDeadlineS);
  int result = 0;
  while ((result = ::xsk_socket__create(&socket_, interface().c_str(), kQueue, umem_, &receive_,
                                        &send_, &config)) == -EBUSY &&
         !given_back.passed()) {
    std::this_thread::sleep_for(kProbeInterval);  // waits: interval of a probe with a deadline
  }
  expect(result, "cannot open an AF_XDP socket (one per interface; it needs CAP_NET_ADMIN)");
}

// As a link, so that it goes with this process.
void AfXdpPort::attach_program() {
  map_.reset(::bpf_map_create(BPF_MAP_TYPE_XSKMAP, "turntable_xsk", sizeof(std::uint32_t),
                              sizeof(std::uint32_t), kQueue + 1, nullptr));
  expect(map_.get(), "cannot create a BPF map (it needs CAP_BPF)");
  const auto code = redirect_program(map_.get());
  program_.reset(::bpf_prog_load(BPF_PROG_TYPE_XDP, "turntable_port", "Apache-2.0", code.data(),
                                 code.size(), nullptr));
  expect(program_.get(), "cannot load the XDP program");
  expect(::xsk_socket__update_xskmap(socket_, map_.get()), "cannot enter the AF_XDP socket");
  attachment_.reset(::bpf_link_create(program_.get(), link_.index(), BPF_XDP, nullptr));
  expect(attachment_.get(),
         "cannot attach an XDP program (is there one already? `ip link` shows it; is the MTU of "
         "the other end above 3,500?)");
}

std::size_t AfXdpPort::receive(std::span<Frame*> frames) {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  const auto count =
      ::xsk_ring_cons__peek(&receive_, static_cast<std::uint32_t>(frames.size()), &from);
  if (count == 0) return 0;
  ::xsk_ring_prod__reserve(&fill_, count, &to);  // there is room for every chunk
  for (std::size_t i = 0; i < count; ++i) {
    const xdp_desc& arrived = *::xsk_ring_cons__rx_desc(&receive_, from++);
    frames[i]->reset(arrived.len);
    std::memcpy(frames[i]->packet.data, memory_ + arrived.addr, arrived.len);
    counters().rx_bytes += arrived.len;
    *::xsk_ring_prod__fill_addr(&fill_, to++) = arrived.addr & ~std::uint64_t{kChunkBytes - 1};
  }
  ::xsk_ring_prod__submit(&fill_, count);
  ::xsk_ring_cons__release(&receive_, count);
  counters().rx_packets += count;
  return count;
}

void AfXdpPort::send(std::span<Frame* const> frames) {
  // What is given to a socket of a link that is down would leave when it comes up again.
  if (!link_.is_up()) {
    for (const Frame* frame : frames) count_drop(*frame, *this, DropReason::kTxLinkDown);
    return;
  }
  std::uint32_t left = 0;
  for (const Frame* frame : frames) left += submit(*frame);
  kick(left);
}

// False: dropped and counted.
bool AfXdpPort::submit(const Frame& frame) {
  const dataplane::Packet& packet = frame.packet;
  if (packet.length > mtu_ + kLinkHeaderBytes) {
    count_drop(frame, *this, DropReason::kTxOversize);
    return false;
  }
  std::uint32_t index = 0;
  if (!has_chunk() || ::xsk_ring_prod__reserve(&send_, 1, &index) == 0) {
    count_drop(frame, *this, DropReason::kTxQueueFull);
    return false;
  }
  xdp_desc& leaving = *::xsk_ring_prod__tx_desc(&send_, index);
  leaving.addr = free_.back();
  leaving.len = packet.length;
  leaving.options = 0;
  free_.pop_back();
  std::memcpy(memory_ + leaving.addr, packet.data, packet.length);
  ::xsk_ring_prod__submit(&send_, 1);
  ++counters().tx_packets;
  counters().tx_bytes += packet.length;
  if (frame.trace != nullptr) [[unlikely]]
    frame.trace->sent(number(), packet.length);
  return true;
}

// A chunk comes back when the frame's receiver has taken it over from this kernel.
bool AfXdpPort::has_chunk() {
  if (free_.empty()) collect_completed();
  for (int retries = 0; free_.empty() && retries < kSendRetries; ++retries) {
    ::sched_yield();
    collect_completed();
  }
  return !free_.empty();
}

void AfXdpPort::collect_completed() {
  std::uint32_t index = 0;
  const std::uint32_t count = ::xsk_ring_cons__peek(&completion_, kSendChunks, &index);
  for (std::uint32_t i = 0; i < count; ++i)
    free_.push_back(*::xsk_ring_cons__comp_addr(&completion_, index++));
  ::xsk_ring_cons__release(&completion_, count);
}

// The kernel sends some of them per call.
void AfXdpPort::kick(std::uint32_t& left) {
  int retries = 0;
  while (left > 0) {
    const std::uint32_t before = __atomic_load_n(send_.consumer, __ATOMIC_ACQUIRE);
    const int result = static_cast<int>(::sendto(fd(), nullptr, 0, MSG_DONTWAIT, nullptr, 0));
    const std::uint32_t sent = __atomic_load_n(send_.consumer, __ATOMIC_ACQUIRE) - before;
    if (result < 0 && errno == EBUSY) counters().drop(DropReason::kTxQueueFull);
    left -= std::min(left, sent);
    if (sent > 0) {
      retries = 0;
    } else if (++retries > kSendRetries) {
      return;  // they leave with the next frames
    } else {
      ::sched_yield();
    }
  }
}

void AfXdpPort::collect_kernel_counters() {
  xdp_statistics statistics{};
  socklen_t size = sizeof(statistics);
  if (::getsockopt(fd(), SOL_XDP, XDP_STATISTICS, &statistics, &size) != 0) return;
  const std::uint64_t dropped = statistics.rx_dropped + statistics.rx_ring_full;
  counters().drop(DropReason::kRxQueueFull, dropped - dropped_before_);
  dropped_before_ = dropped;
}

}  // namespace turntable::softswitch
