// UDP sockets and batches of datagrams. After construction nothing here allocates. What sends and
// receives by sockets or by AF_XDP is net/datagrams.h.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "net/datagrams.h"
#include "net/ipv4.h"

namespace turntable::net {

// A socket bound to `local` with receive time stamps on. Its buffers are meant to hold `datagrams`
// of the largest size at once, as far as the system allows (as root: always). Throws CommandError.
UniqueFd open_udp(const sockaddr_in& local, std::size_t datagrams);

// A second socket bound to the same address as the first, and which of the two gets a datagram is
// decided by how it begins: those whose first two bytes are `type` (big-endian) come to the second.
struct SplitSockets {
  UniqueFd all_else;
  UniqueFd of_type;
};
SplitSockets open_split_udp(const sockaddr_in& local, std::size_t datagrams, std::uint16_t type);

// Makes `remote` the only peer of the socket. Throws CommandError.
void connect_udp(int fd, const sockaddr_in& remote);

std::size_t receive_buffer_bytes(int fd);

// Datagrams the kernel dropped at this socket since it was opened (buffer full or bad checksum).
std::uint32_t socket_drops(int fd);

inline constexpr std::size_t kBatch = 64;
// Room for a datagram in a batch: more than any packet has, so that a longer one is seen as such.
inline constexpr std::size_t kDatagramBytes = 256;
inline constexpr std::size_t kLargeDatagramBytes = 1536;  // where fragments of large values come

class ReceiveBatch {
 public:
  // What comes with the bytes. Of a connected socket the sender is known; having the kernel write
  // less costs less.
  enum class Details : std::uint8_t { kSenderAndStamp, kOldestStamp };

  // `from` is known with kSenderAndStamp only. A stamp that was asked for is missing when the
  // system had no memory left for it.
  using Datagram = Datagrams::Received;

  explicit ReceiveBatch(Details details = Details::kSenderAndStamp,
                        std::size_t datagram_bytes = kDatagramBytes);
  ReceiveBatch(const ReceiveBatch&) = delete;
  ReceiveBatch& operator=(const ReceiveBatch&) = delete;

  // Replaces the batch by what is waiting, without blocking. Answers the number of datagrams, 0 if
  // none is there, or -errno (an ICMP error of a connected socket; the next call may succeed).
  int receive(int fd) noexcept;

  // Valid until the next receive().
  Datagram at(std::size_t i) const noexcept;

 private:
  static constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(timespec));

  struct Slot {
    alignas(cmsghdr) std::array<std::uint8_t, kControlBytes> control;
    sockaddr_in from{};
    iovec iov;
  };
  std::vector<std::uint8_t> bytes_;
  std::array<Slot, kBatch> slots_;
  std::array<mmsghdr, kBatch> headers_;
};

class SendBatch {
 public:
  explicit SendBatch(std::size_t datagram_bytes = kDatagramBytes);
  SendBatch(const SendBatch&) = delete;
  SendBatch& operator=(const SendBatch&) = delete;

  bool full() const noexcept { return size_ == kBatch; }
  std::size_t size() const noexcept { return size_ - sent_; }  // waiting to be sent

  // Where to write the next datagram; then add() it. Not while full().
  std::span<std::uint8_t> buffer() noexcept {
    return std::span(bytes_).subspan(size_ * datagram_bytes_, datagram_bytes_);
  }
  // `to`: nullptr for a connected socket. `dscp`: 0 to 63, the datagram's class of service. `tag`
  // comes back if the datagram cannot be sent.
  void add(std::size_t bytes, const sockaddr_in* to, std::uint8_t dscp = 0,
           std::uint32_t tag = 0) noexcept;

  // Sends the first `count` that wait, blocking while the send buffer is full. Calls failed(tag,
  // errno) for each datagram the system refuses; those are not tried again.
  template <typename Failed>
  void flush(int fd, std::size_t count, Failed&& failed) noexcept {
    const std::size_t end = sent_ + count;
    while (sent_ < end) {
      const int result = send_some(fd, end);
      if (result > 0) {
        sent_ += static_cast<std::size_t>(result);
      } else {
        failed(slots_[sent_].tag, -result);
        ++sent_;
      }
    }
    if (sent_ == size_) sent_ = size_ = 0;
  }

 private:
  // Datagrams sent from sent_ on, at least 1; or -errno for the first.
  int send_some(int fd, std::size_t end) noexcept;

  struct Slot {
    alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(int))> control;
    sockaddr_in to;
    iovec iov;
    std::uint32_t tag;
  };
  std::size_t datagram_bytes_;
  std::vector<std::uint8_t> bytes_;
  std::array<Slot, kBatch> slots_;
  std::array<mmsghdr, kBatch> headers_;
  std::size_t sent_ = 0;
  std::size_t size_ = 0;
};

}  // namespace turntable::net
