// Messages over one TCP connection, once both ends have proven themselves (net/handshake.h).
#pragma once

#include <poll.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "messages/message.h"
#include "net/event_loop.h"
#include "net/handshake.h"

namespace turntable::messages {

// Lives on the loop's thread.
class Channel {
 public:
  // Gets each message's bytes, for decode(); a MessageError of it closes the channel.
  using OnFrame = std::function<void(Frame)>;
  using OnClosed = std::function<void(const std::string& why)>;

  // `socket` is connected, or connecting; `handshake` has `first` to send. Either callback may
  // destroy the channel. on_closed is called at most once, and not by send() itself.
  Channel(net::EventLoop& loop, UniqueFd socket, std::unique_ptr<net::Handshake> handshake,
          net::Handshake::Bytes first, OnFrame on_frame, OnClosed on_closed);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Goes out when the other end has proven itself. Throws MessageError if it is too long.
  template <Message M>
  void send(const M& message) {
    if (!socket_) return;  // closed: whoever asked asks again on the next connection
    if (!is_proven()) return encode(message, after_proof_);
    encode(message, unsent_);
    loop_.change(socket_.get(), POLLIN | POLLOUT);
  }

  bool is_proven() const { return handshake_->is_done(); }
  bool has_spoken() const noexcept;  // anything has come, whether it was read or not

 private:
  void ready(short events);
  bool receive();
  void read_frames(std::span<const std::uint8_t> bytes);
  void prove(std::span<const std::uint8_t> bytes);
  void flush();
  void fail(const std::string& why);

  net::EventLoop& loop_;
  UniqueFd socket_;
  std::unique_ptr<net::Handshake> handshake_;
  bool was_read_ = false;                  // something was
  net::Handshake::Bytes unproven_;         // received, and not yet enough for the handshake
  std::vector<std::uint8_t> after_proof_;  // messages that wait for the handshake
  OnFrame on_frame_;
  OnClosed on_closed_;
  FrameReader reader_;
  std::vector<std::uint8_t> unsent_;
  std::size_t sent_ = 0;  // of unsent_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace turntable::messages
