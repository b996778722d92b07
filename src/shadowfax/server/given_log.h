// What this server's log has of ranges that it has given away, for the servers that were pointed
// into it (docs/shadowfax-design.md §3): single keys, or all of a range.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hybridlog/log_scan.h"
#include "hybridlog/store.h"
#include "shadowfax/cluster/asking.h"

namespace turntable::shadowfax {

// Answers FETCH, or the first of its questions. Waits for the device. Throws std::invalid_argument,
// nlohmann::json::exception.
Asking::Answer fetch(hybridlog::Store& store, const nlohmann::json& args,
                     std::span<const std::uint8_t> questions);

// Answers PULL, of several migrations at once. Of one thread.
class PulledLog {
 public:
  // Each has a page of the log in memory. Where there are so many, one that was not asked for since
  // `forgotten` makes room for another one.
  static constexpr std::size_t kMostPulls = 8;

  explicit PulledLog(hybridlog::Store& store,
                     std::chrono::nanoseconds forgotten = std::chrono::seconds(10))
      : store_(store), forgotten_(forgotten) {}

  // Throws Refusal where it is no question that follows the last one: the other must begin at 0
  // again; or where there are too many. std::system_error where the device does not give a page.
  Asking::Answer answer(const nlohmann::json& args);

 private:
  struct Pull {
    Pull(hybridlog::Store& store, hybridlog::HashRange range, hybridlog::Address until)
        : scan(std::in_place, store, range, until) {}

    std::optional<hybridlog::LogScan> scan;         // until it has come to its end
    std::vector<hybridlog::ScannedRecord> records;  // of the page
    std::size_t next = 0;                           // of them
    std::optional<std::uint64_t> sequence;          // of the last answer
    Asking::Answer last;                            // it may not have come
    std::int64_t asked_ns = 0;                      // for the last time
  };

  Pull& begin(std::uint64_t migration, const nlohmann::json& args);
  void make_room();
  static Asking::Answer next(Pull& pull);

  hybridlog::Store& store_;
  const std::chrono::nanoseconds forgotten_;
  std::map<std::uint64_t, Pull> pulls_;  // by migration
};

}  // namespace turntable::shadowfax
