#include "net/xdp_interface.h"

#include <bpf/bpf.h>
#include <linux/if_ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <tuple>

#include "common/command_error.h"

namespace turntable::net {
namespace {

constexpr std::uint32_t kReceiveChunks = 8192;
constexpr std::uint32_t kPorts = 65536;
// Of a frame without VLAN tag and without IP options.
constexpr std::size_t kEtherType = offsetof(ethhdr, h_proto);
constexpr std::size_t kIp = sizeof(ethhdr);
constexpr std::size_t kUdp = kIp + sizeof(iphdr);
constexpr int kVersionAndLength = 0x45;
constexpr int kFragment = 0x3fff;  // more fragments, or an offset

// A program of which every comparison that fails ends with XDP_PASS.
class Filter {
 public:
  void add(const bpf_insn& instruction) { code_.push_back(instruction); }
  void pass_unless(int jump_if_other, int destination, std::int64_t value) {
    exits_.push_back(code_.size());
    add(bpf(jump_if_other, destination, 0, 0, value));
  }
  void pass_if(const bpf_insn& jump) {
    exits_.push_back(code_.size());
    add(jump);
  }
  std::vector<bpf_insn> finish() {
    for (const std::size_t i : exits_)
      code_[i].off = static_cast<std::int16_t>(code_.size() - i - 1);
    add(bpf(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS));
    add(bpf(BPF_JMP | BPF_EXIT));
    return code_;
  }

 private:
  std::vector<bpf_insn> code_;
  std::vector<std::size_t> exits_;
};

// Loads the frame's bounds to registers 2 and 3; one that has no room for the headers passes.
void load_bounds(Filter& filter) {
  filter.add(bpf(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_6, offsetof(xdp_md, data)));
  filter.add(bpf(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_3, BPF_REG_6, offsetof(xdp_md, data_end)));
  filter.add(bpf(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_2));
  filter.add(bpf(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, kUdp + sizeof(udphdr)));
  filter.pass_if(bpf(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_4, BPF_REG_3));
}

void pass_unless_field(Filter& filter, int size, std::size_t offset, std::int64_t value) {
  filter.add(bpf(BPF_LDX | BPF_MEM | size, BPF_REG_5, BPF_REG_2, offset));
  filter.pass_unless(BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_5, value);
}

// The time of arrival goes in front of the frame, where the socket finds it; then the bounds have
// to be loaded anew. A driver without such room leaves the stamp out.
void add_stamp(Filter& filter) {
  filter.add(bpf(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_6));
  filter.add(bpf(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0,
                 -static_cast<std::int64_t>(sizeof(XdpInterface::Stamp))));
  filter.add(bpf(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_xdp_adjust_meta));
  filter.add(bpf(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 7, 0));
  filter.add(bpf(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns));
  filter.add(bpf(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_6, offsetof(xdp_md, data_meta)));
  filter.add(bpf(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_3, BPF_REG_6, offsetof(xdp_md, data)));
  filter.add(bpf(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_2));
  filter.add(bpf(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, sizeof(XdpInterface::Stamp)));
  filter.add(bpf(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_4, BPF_REG_3, 1));
  filter.add(bpf(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_0));
}

std::vector<bpf_insn> program_for(in_addr address, int map) {
  Filter filter;
  filter.add(bpf(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1));
  load_bounds(filter);
  pass_unless_field(filter, BPF_H, kEtherType, htons(ETH_P_IP));
  pass_unless_field(filter, BPF_B, kIp, kVersionAndLength);
  pass_unless_field(filter, BPF_B, kIp + offsetof(iphdr, protocol), IPPROTO_UDP);
  pass_unless_field(filter, BPF_W, kIp + offsetof(iphdr, daddr),
                    static_cast<std::int32_t>(address.s_addr));
  filter.add(bpf(BPF_LDX | BPF_MEM | BPF_H, BPF_REG_5, BPF_REG_2, kIp + offsetof(iphdr, frag_off)));
  filter.add(bpf(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_5, 0, 0, htons(kFragment)));
  filter.pass_unless(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_5, 0);
  filter.add(bpf(BPF_LDX | BPF_MEM | BPF_H, BPF_REG_7, BPF_REG_2, kUdp + offsetof(udphdr, dest)));
  filter.add(bpf(BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_7, 0, 0, 16));
  add_stamp(filter);
  // return bpf_redirect_map(map, port, XDP_PASS): a port that has no socket passes.
  filter.add(bpf(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map));
  filter.add(bpf(0));  // the upper half of the map's number
  filter.add(bpf(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_7));
  filter.add(bpf(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, XDP_PASS));
  filter.add(bpf(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map));
  filter.add(bpf(BPF_JMP | BPF_EXIT));
  return filter.finish();
}

std::uint32_t checked_mtu(const NetworkInterface& link, const std::string& name) {
  const std::string what = "interface " + name + " has ";
  const std::uint32_t mtu = link.mtu();
  if (mtu > kXdpMaxMtu) {
    throw CommandError("unavailable", what + "an MTU of " + std::to_string(mtu) +
                                          "; af_xdp takes up to " + std::to_string(kXdpMaxMtu) +
                                          ", use sockets");
  }
  if (const std::uint32_t queues = link.receive_queues(); queues != 1) {
    throw CommandError("unavailable", what + std::to_string(queues) +
                                          " receive queues; af_xdp takes one: ethtool -L " + name +
                                          " combined 1 (or rx 1), or use sockets");
  }
  return mtu;
}

// The kernel's headroom, the frame and its stamp in the smallest chunk.
std::uint32_t chunk_bytes(std::uint32_t mtu) {
  constexpr std::uint32_t kSmall = 2048;
  return mtu + kLinkHeaderBytes + kXdpHeadroom <= kSmall ? kSmall : 2 * kSmall;
}

// Interfaces of other network namespaces may have the same name.
std::uint64_t network_namespace() {
  struct stat status {};
  ::stat("/proc/thread-self/ns/net", &status);
  return status.st_ino;
}

}  // namespace

XdpInterface::XdpInterface(const std::string& name, in_addr address)
    : name_(name),
      address_(address),
      link_(name),
      mtu_(checked_mtu(link_, name)),
      memory_(name, {.receive = kReceiveChunks,
                     .send = kSendChunks * kMaxSockets,
                     .bytes = chunk_bytes(mtu_)}),
      // The kernel takes copies where the driver cannot do without.
      first_(memory_, name,
             {.receive_slots = kSendChunks, .send_slots = kSendChunks, .bind_flags = 0}),
      map_(create_socket_map(name, kPorts)),
      program_(name, link_, program_for(address, map_.get())) {
  for (Share& share : shares_) share.sent.reserve(kSendChunks);
  for (std::uint32_t i = 0; i < kSendChunks * kMaxSockets; ++i)
    shares_[i / kSendChunks].sent.push_back(memory_.send_chunk(i));
}

std::shared_ptr<XdpInterface> XdpInterface::of(const std::string& name, in_addr address) {
  static std::mutex mutex;
  static std::map<std::tuple<std::uint64_t, std::string>, std::shared_ptr<XdpInterface>> open;
  const std::lock_guard lock(mutex);
  auto& found = open[{network_namespace(), name}];
  if (found == nullptr) {
    try {
      found.reset(new XdpInterface(name, address));
    } catch (const CommandError&) {
      throw;
    } catch (const std::runtime_error& error) {
      throw CommandError("unavailable", error.what());
    }
  }
  if (found->address_.s_addr != address.s_addr) {
    throw bad_argument("interface " + name +
                       " has AF_XDP sockets of another address already; "
                       "expected one address for all of a process");
  }
  return found;
}

unsigned XdpInterface::take_share() {
  const std::lock_guard lock(mutex_);
  const auto free =
      std::find_if(shares_.begin(), shares_.end(), [](const Share& share) { return !share.taken; });
  if (free == shares_.end()) {
    throw CommandError("unavailable", "interface " + name_ + ": all " +
                                          std::to_string(kMaxSockets) +
                                          " AF_XDP sockets are taken; use fewer, or sockets");
  }
  free->taken = true;
  return static_cast<unsigned>(free - shares_.begin());
}

void XdpInterface::give_back_share(unsigned share, std::span<const std::uint64_t> chunks) {
  const std::lock_guard lock(mutex_);
  shares_[share].sent.insert(shares_[share].sent.end(), chunks.begin(), chunks.end());
  shares_[share].taken = false;
}

void XdpInterface::collect_sent(unsigned share, std::vector<std::uint64_t>& chunks) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t first = memory_.send_chunk(0);
  const std::uint64_t bytes_of_share = std::uint64_t{kSendChunks} * memory_.chunks().bytes;
  memory_.collect_sent([&](std::uint64_t address) {
    shares_[(address - first) / bytes_of_share].sent.push_back(memory_.chunk_of(address));
  });
  auto& sent = shares_[share].sent;
  chunks.insert(chunks.end(), sent.begin(), sent.end());
  sent.clear();
}

void XdpInterface::give_to_receive(std::span<const std::uint64_t> chunks) noexcept {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t chunk : chunks) memory_.fill(chunk);
  memory_.filled();
}

std::unique_ptr<XdpSocket> XdpInterface::open_socket(std::uint16_t port,
                                                     std::uint32_t receive_slots) {
  const std::lock_guard lock(mutex_);
  auto socket = std::make_unique<XdpSocket>(
      memory_, name_,
      XdpSocket::Settings{
          .receive_slots = receive_slots, .send_slots = kSendChunks, .bind_flags = 0});
  socket->enter_into(map_.get(), port);
  return socket;
}

// What has come to it and was not read is lost, but not its chunks.
void XdpInterface::close_socket(std::uint16_t port, std::unique_ptr<XdpSocket> socket) noexcept {
  const std::uint32_t key = port;
  const std::lock_guard lock(mutex_);
  ::bpf_map_delete_elem(map_.get(), &key);
  std::uint32_t at = 0;
  const auto count = ::xsk_ring_cons__peek(&socket->received(), kReceiveChunks, &at);
  for (std::uint32_t i = 0; i < count; ++i)
    memory_.fill(::xsk_ring_cons__rx_desc(&socket->received(), at++)->addr);
  memory_.filled();
}

}  // namespace turntable::net
