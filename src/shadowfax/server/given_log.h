// What this server's log has of ranges that it has given away, for the servers that were pointed
// into it (docs/shadowfax.md §3): single keys, or all of a range.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "hybridlog/log_scan.h"
#include "hybridlog/store.h"
#include "shadowfax/cluster/asking.h"

namespace turntable::shadowfax {

// Answers FETCH, or the first of its questions. Waits for the device. Throws std::invalid_argument, nlohmann::json::exception.
Asking::Answer fetch(hybridlog::Store& store, const nlohmann::json& args,
                     std::span<const std::uint8_t> questions);

// Answers PULL; one range at a time. Of one thread.
class PulledLog {
 public:
  explicit PulledLog(hybridlog::Store& store) : store_(store) {}

  // Throws Refusal where it is no question that follows the last one: the other must begin at 0
  // again. std::system_error where the device does not give a page.
  Asking::Answer answer(const nlohmann::json& args);

 private:
  struct Pull {
    Pull(hybridlog::Store& store, std::uint64_t id, hybridlog::HashRange range,
         hybridlog::Address until)
        : migration(id), scan(store, range, until) {}

    const std::uint64_t migration;
    hybridlog::LogScan scan;
    std::vector<hybridlog::ScannedRecord> records;  // of the page
    std::size_t next = 0;                           // of them
    std::uint64_t sequence = 0;                     // of the last answer
    Asking::Answer last;                            // it may not have come
  };

  Asking::Answer next();

  hybridlog::Store& store_;
  std::optional<Pull> pull_;
};

}  // namespace turntable::shadowfax
