// A client's connection at a worker: bytes in, batches served, bytes out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/counter.h"
#include "common/unique_fd.h"
#include "shadowfax/server/batch_server.h"
#include "shadowfax/server/session_opening.h"

namespace turntable::shadowfax {

// Of a worker, written by it alone.
struct WorkerCounts {
  Counter operations, pending;
  Counter batches, refused_batches;
  Counter sessions;                                            // that were opened
  std::array<Counter, kRefusalNames.size()> refused_openings;  // by OpeningRefusal

  // The first one of each reason is said, others are counted alone: strangers fill no log.
  void refuse(OpeningRefusal refusal, const char* why);
};

class Connection {
 public:
  enum class State : std::uint8_t { kOpen, kClosed };

  // Returns when the worker has had the time for so many operations.
  using TakeTime = std::function<void(std::size_t operations)>;

  // secret: that the client proves; nothing: none. take_time: before a batch is answered; empty: at
  // once.
  Connection(UniqueFd socket, const BatchServer::Place& place, WorkerCounts& counts,
             std::optional<std::string> secret = {}, TakeTime take_time = {});

  int fd() const noexcept { return socket_.get(); }
  bool is_open() const noexcept { return server_ != nullptr; }
  // Anything, whether it was read already or not.
  bool has_spoken() const noexcept;
  // The client does not take its replies: nothing more is read until it does.
  bool is_blocked() const noexcept { return sent_ < out_.size(); }
  bool has_pending() const noexcept { return server_ && server_->pending() > 0; }
  void take_part() {
    if (server_) server_->take_part();
  }

  bool is_watched_for_room = false;  // by the worker

  // Reads what is there, serves the batches that are whole, and sends replies.
  State receive();
  // Results of what was pending, and what could not be sent before.
  State go_on();
  // Once it is closed: the session that has still something to do, or null.
  std::unique_ptr<BatchServer> leave();

 private:
  State serve_whole_batches();
  State serve_batch(const RequestHeader& header);
  State open();
  void begin(const Opening& opening);
  void append(const Welcome& welcome);
  void count(const BatchServer::Served& served) noexcept;
  State send();

  UniqueFd socket_;
  const BatchServer::Place place_;
  bool was_read_ = false;                  // something was
  std::optional<SessionOpening> opening_;  // until its session is open
  std::unique_ptr<BatchServer> server_;    // from then on
  WorkerCounts& counts_;
  const TakeTime take_time_;
  std::vector<std::byte> in_;
  std::size_t in_begin_ = 0, in_end_ = 0;  // of what was received and not served
  BatchServer::Bytes out_;
  std::size_t sent_ = 0;  // of out_
};

}  // namespace turntable::shadowfax
