// A client's connection to memcached or Redis, with batches of commands in a pipeline, as
// client_session.h has for Shadowfax: as many are filled as may be under way, and answers come in
// the order of the commands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "shadowfax/client/load_settings.h"
#include "shadowfax/client/sessions.h"
#include "shadowfax/client/text_protocol.h"

namespace turntable::shadowfax {

class TextSession {
 public:
  // Connects; throws SessionError. protocol: outlives the session.
  TextSession(const TextProtocol& protocol, const Batching& batching, const std::string& address,
              std::uint16_t port);

  int fd() const noexcept { return socket_.get(); }
  // The kernel takes no more for the moment: wait for the socket to be writable, too.
  bool is_blocked() const noexcept { return sent_ < out_.size(); }
  // For how many requests there is room: in as many batches as may be under way.
  std::size_t room() const noexcept {
    const std::size_t batches = batching_.pipeline - std::min(batching_.pipeline, ready_.size());
    return batches * batching_.batch_requests -
           std::min(batches * batching_.batch_requests, filling_.asked.size());
  }
  // Throws SessionError, as the others do.
  void add(const Request& request, std::uint64_t context);
  void flush();
  // Reads what has come, and sends what may go now.
  void receive(Sessions::Replies& replies);
  void go_on();
  // Requests that were added and are not done.
  std::size_t outstanding() const noexcept { return outstanding_; }

 private:
  struct Asked {
    Opcode opcode;
    std::uint64_t context;
  };
  struct Batch {
    std::string text;
    std::vector<Asked> asked;
    std::size_t answered = 0;
    std::int64_t sent_ns = 0;
  };

  Batch fresh_batch();
  void end_filling();
  void send_ready();
  void send(Batch batch);
  void push();
  // The first answer of what has come; false: it is not whole.
  bool take(std::string_view text, std::size_t& taken, Sessions::Replies& to);

  const TextProtocol& protocol_;
  const Batching batching_;
  UniqueFd socket_;
  std::vector<Batch> unused_;  // their memory is used again
  Batch filling_;
  std::deque<Batch> ready_;  // full, and to be sent
  bool flushes_ = false;     // the batch that is being filled goes although it is not full
  std::deque<Batch> under_way_;
  std::size_t outstanding_ = 0;
  std::string out_;  // what the kernel has not taken yet, from sent_ on
  std::size_t sent_ = 0;
  std::vector<char> in_;
  std::size_t in_end_ = 0;
};

}  // namespace turntable::shadowfax
