// Pulls what this server points to in the logs of others (docs/shadowfax-design.md §3), when it is
// asked for: then these may begin behind it.
//
//   for each of its migrations:  pull all of it  ->  its indirection records are nothing any more
//     ->  a checkpoint that was begun since  ->  metadata is told
//
// Where a source does not answer its question stays, and is looked at again later: a source that is
// slow would not come to an end with one that is asked anew again and again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>

#include "hybridlog/store.h"
#include "shadowfax/cluster/asking.h"
#include "shadowfax/server/checkpointer.h"

namespace turntable::shadowfax {

class Resolver {
 public:
  // All but the functions must outlive it; those are called by its thread.
  struct Place {
    hybridlog::Store& store;
    Checkpointer& checkpointer;
    Asking& metadata;
    ServerNumber number;
    std::string incarnation;  // of the server's process
    // A connection to where the source is now, which nobody else has, nor another of these. Throws
    // NoAnswer, Refusal.
    std::function<std::unique_ptr<Asking>(const Unresolved&)> connect;
    std::function<void(const char* step)> at_step;  // for tests
  };

  explicit Resolver(Place place);
  ~Resolver() = default;  // stops where it is
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Soon. Any thread.
  void request();
  // Waits until all is that this server points to now. Any other thread. False: it was stopped, or
  // a source has been silent for so long, and was once more when it was looked at since.
  bool resolve(const std::stop_token& stop,
               std::chrono::nanoseconds silence = std::chrono::nanoseconds::max());

  // {"records": that were pulled, "resolved": migrations, "why" the last attempt failed}
  nlohmann::json status() const;

 private:
  struct Pull {
    std::unique_ptr<Asking> source;
    std::uint64_t sequence = 0;                 // of the question
    std::unique_ptr<Asking::Asked> question{};  // it goes before whom it asks
  };

  void work(const std::stop_token& stop);
  void resolve_all(const std::stop_token& stop);
  void resolve(const Unresolved& what, const std::stop_token& stop);
  void pull(const Unresolved& what, const std::stop_token& stop);
  Asking::Answer next(const Unresolved& what, const std::stop_token& stop);
  void note(ServerNumber source, bool is_silent);

  const Place place_;
  std::map<std::uint64_t, Pull> pulls_;  // by migration; of the thread
  mutable std::mutex mutex_;             // of what follows
  std::condition_variable_any changed_;
  std::uint64_t asked_ = 0, done_ = 0;  // done_: up to which request all is resolved
  std::uint64_t looks_ = 0;             // at all sources, that have ended
  std::map<ServerNumber, std::chrono::steady_clock::time_point> silent_since_;
  std::uint64_t records_ = 0, resolved_ = 0;
  std::string why_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
