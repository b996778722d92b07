// The history of one key as clusters: each effect that was seen, with the reads that returned it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/operation.h"
#include "history/zone.h"

namespace turntable::history {

// An operation that cannot be explained by any order.
struct Contradiction {
  std::string what;
  std::vector<std::size_t> operations;
};

class KeyHistory {
 public:
  // `members`: all operations of one key, as indexes into `history`.
  KeyHistory(std::span<const Operation> history, std::span<const std::size_t> members);

  std::optional<Contradiction> check();

 private:
  // The effect of a write, or the record before the run.
  struct Cluster {
    Zone zone;
    std::int64_t begin;  // of the write
    bool has_value;
    std::uint64_t version;
    std::optional<std::size_t>
        write;  // empty: a record before the run, or a delete of unknown origin
    std::vector<std::size_t> reads;
  };

  std::optional<Contradiction> add_acknowledged(std::size_t index);
  std::optional<Contradiction> add_read(std::size_t index);
  std::optional<Contradiction> make_cluster(std::size_t read);
  std::optional<Contradiction> conflict() const;
  std::vector<std::size_t> witnesses_of(const Cluster& cluster) const;

  std::span<const Operation> history_;
  std::span<const std::size_t> members_;
  std::map<std::uint64_t, std::size_t> puts_;  // by version
  std::optional<std::int64_t> first_delete_ns_;
  std::int64_t deletes_gone_ns_ = 0;
  std::map<std::uint32_t, Cluster> clusters_;  // by number
};

}  // namespace turntable::history
