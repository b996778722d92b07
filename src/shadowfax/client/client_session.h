// A client's session with one worker of a server: requests are gathered into batches, of which a
// few are under way at once; replies come back in the order of the requests, and the results of
// those that are pending at any time later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/unique_fd.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

// The server cannot be reached, has gone, or says what means nothing.
class SessionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ClientSession {
 public:
  struct Settings {
    std::string address = "127.0.0.1";  // IPv4
    std::uint16_t port = 0;
    std::size_t batch_bytes = 32'768;  // with its header; at least one request
    std::size_t pipeline = 2;          // batches under way
  };
  // Takes what was answered. A request is done when its reply is not kPending.
  class Replies {
   public:
    virtual ~Replies() = default;
    virtual void done(const Reply& reply) = 0;
    virtual void batch_done(std::int64_t /*round_trip_ns*/) {}
  };

  // Connects; throws SessionError.
  explicit ClientSession(const Settings& settings);

  int fd() const noexcept { return socket_.get(); }
  std::size_t requests_in_batch() const noexcept {
    return (batch_bytes_ - RequestHeader::kBytes) / Request::kBytes;
  }

  // There is room for a request in the batch that is being filled.
  bool has_room() const noexcept;
  // Sends the batch once it is full.
  void add(const Request& request);
  void flush();  // what there is of a batch

  // Reads what has come. Throws SessionError.
  void receive(Replies& replies);
  std::size_t batches_under_way() const noexcept { return under_way_.size(); }
  std::size_t pending() const noexcept { return pending_; }

 private:
  struct Batch {
    std::size_t requests;
    std::int64_t sent_ns;
  };

  void send();
  void take(const ReplyHeader& header, const std::byte* replies, Replies& to);

  const std::size_t batch_bytes_, pipeline_;
  UniqueFd socket_;
  std::uint64_t view_ = 1;
  std::vector<std::byte> filling_;  // with room for the header
  std::deque<Batch> under_way_;
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;  // of out_
  std::vector<std::byte> in_;
  std::size_t in_end_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace turntable::shadowfax
