// Asks other servers for what lies in their logs, where this one's indirection records point
// (docs/shadowfax-design.md §3): a thread for each of them, which sends what has come together.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "hybridlog/elsewhere.h"
#include "shadowfax/cluster/asking.h"

namespace turntable::shadowfax {

class SourceLogs : public hybridlog::OtherLogs {
 public:
  SourceLogs() = default;
  ~SourceLogs() override { end(); }
  SourceLogs(const SourceLogs&) = delete;
  SourceLogs& operator=(const SourceLogs&) = delete;

  struct Place {
    // A connection to where the server is now, which nobody else has. Throws NoAnswer, Refusal.
    std::function<std::unique_ptr<Asking>(ServerNumber)> connect;
    // What is asked of a server that has been silent for so long has an error. It is asked on.
    std::chrono::nanoseconds gone_time;
    // Who asks a server that is gone has an error while it is looked for, and for so long after:
    // each look takes kLookSeconds, and a batch may ask a thousand times.
    std::chrono::nanoseconds between_looks = std::chrono::seconds(1);
    std::function<void(const char* step)> at_step;  // for tests
  };
  // Before anything is read. What it calls lives until end().
  void begin(Place place) { place_ = std::move(place); }
  // What is asked for has an error, now and later. Any thread.
  void end();

  // Of a migration, before its indirection records count: where the source's log began.
  void note_begin(std::uint64_t migration, hybridlog::Address begin);

  // Any thread.
  std::shared_ptr<Ticket> read(const hybridlog::Indirection& at, std::uint64_t key) override;

  // Something is asked for, and somebody waits for it, that has had no answer for so long: a
  // checkpoint would wait for it, too. Not of a server that is gone: that is an error soon.
  bool are_silent(std::chrono::nanoseconds since) const;
  std::uint64_t answered() const noexcept { return answered_.load(); }

 private:
  using Tickets = std::deque<std::shared_ptr<Ticket>>;
  struct Line {  // to a server
    Tickets waiting, under_way;
    std::condition_variable_any changed;
    std::int64_t asked_ns = 0;          // what is under way
    std::optional<Deadline> gone = {};  // of a server that is silent: from then on it is dead
    Deadline look_again = Deadline::after(std::chrono::nanoseconds(0));
    std::jthread thread;

    bool is_gone() const { return gone && gone->passed(); }
  };

  void work(ServerNumber source, Line& line, const std::stop_token& stop);
  static void end_all(Line& line);
  Tickets next_of_a_migration(Line& line);
  std::optional<Asking::Answer> ask(ServerNumber source, std::unique_ptr<Asking>& server,
                                    const Tickets& tickets, Deadline deadline,
                                    const std::stop_token& stop);
  void deliver(const std::vector<std::uint8_t>& answers, Tickets& tickets);

  Place place_;
  std::atomic<std::uint64_t> answered_{0};
  mutable std::mutex mutex_;  // of what follows
  bool has_ended_ = false;
  std::map<std::uint64_t, hybridlog::Address> begins_;  // by migration
  std::map<ServerNumber, Line> lines_;
};

}  // namespace turntable::shadowfax
