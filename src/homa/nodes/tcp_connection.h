// One connection of a client and a server: messages that wait to be sent, and the one that comes.
//
//   connection.add(call, content);  connection.send();
//   if (connection.read(buffer) == Stream::kOpen)
//     while (auto message = connection.next()) handle(*message);
//
// Nothing here waits. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "common/unique_fd.h"
#include "homa/grant_scheduler.h"
#include "homa/nodes/tcp_frame.h"
#include "homa/outgoing_message.h"

namespace turntable::homa {

struct TcpMessage {
  std::uint64_t call = 0;
  Content content;
};

class TcpConnection {
 public:
  enum class Stream : std::uint8_t {
    kOpen,
    kBlocked,  // the kernel takes, or has, nothing now
    kLost,     // by the other end, or by the network
  };

  TcpConnection(UniqueFd fd, Peer peer, std::uint32_t max_message_bytes)
      : fd_(std::move(fd)), peer_(peer), max_message_bytes_(max_message_bytes) {}

  int fd() const noexcept { return fd_.get(); }
  Peer peer() const noexcept { return peer_; }

  void add(std::uint64_t call, Content content);
  // As much as the kernel takes. kOpen: all that waited.
  Stream send() noexcept;

  // Reads once, into `buffer` and into the message that comes. Then next() until it has nothing:
  // `buffer` must stay as it is until then.
  Stream read(std::span<std::uint8_t> buffer) noexcept;
  // The next whole message of what was read.
  std::optional<TcpMessage> next();
  // What came is no message: nothing that follows can be understood.
  bool is_malformed() const noexcept { return is_malformed_; }
  // A message has begun, and has not ended.
  bool is_within_message() const noexcept { return header_bytes_ > 0 && !is_malformed_; }

  std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }  // with headers
  std::uint64_t bytes_received() const noexcept { return bytes_received_; }
  std::uint64_t messages_sent() const noexcept { return messages_sent_; }  // to their last byte

 private:
  struct Outgoing {
    std::array<std::uint8_t, kFrameHeaderBytes> header;
    Content content;

    std::size_t bytes() const noexcept { return header.size() + content.bytes.size(); }
  };

  void count_sent(std::size_t bytes) noexcept;
  bool take_header();
  std::size_t body_left() const noexcept;

  const UniqueFd fd_;
  const Peer peer_;
  const std::uint32_t max_message_bytes_;

  std::deque<Outgoing> waiting_;
  std::size_t first_sent_ = 0;  // bytes of the first

  std::span<const std::uint8_t> unparsed_;  // of the last read
  std::array<std::uint8_t, kFrameHeaderBytes> header_{};
  std::size_t header_bytes_ = 0;  // that have come
  TcpMessage incoming_;
  std::size_t body_bytes_ = 0;  // that have come
  bool is_malformed_ = false;

  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_received_ = 0;
  std::uint64_t messages_sent_ = 0;
};

}  // namespace turntable::homa
