// Which digests clients are sent, and in which lists (P4Runtime 1.4, "DigestEntry"). Apart from
// gRPC and from time.
//
// A digest waits in its buffer until the buffer is full or the oldest in it has waited long enough;
// then all of them are a list. Those that are as one in the buffer, or as one in a list that is
// neither acknowledged nor old, are left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "p4/v1/p4runtime.pb.h"

namespace turntable::p4runtime_server {

inline constexpr std::size_t kMostListDigests = 4096;  // where a client sets no limit
// Of one kind of digest, in lists that are not acknowledged; then the oldest list is forgotten.
inline constexpr std::size_t kMostUnacknowledged = 65536;

// Thread-safe.
class DigestLists {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Lists = std::vector<p4::v1::DigestList>;

  // What a client writes of a kind. Throw Refusal: ALREADY_EXISTS, NOT_FOUND; INVALID_ARGUMENT a
  // negative number. check() does not change anything.
  void check(p4::v1::Update::Type type, const p4::v1::DigestEntry& entry) const;
  void write(p4::v1::Update::Type type, const p4::v1::DigestEntry& entry);
  // All, or that of one id.
  std::vector<p4::v1::DigestEntry> entries(std::uint32_t id) const;
  bool has_any() const;
  void clear();
  // All that `before` has; that is empty then.
  void take_over(DigestLists& before);

  // A digest that came now. Lists that are full then; their time is the caller's to set.
  Lists add(std::uint32_t id, p4::v1::P4Data data, Time now);
  // Lists that have waited long enough; lists that are old enough are forgotten.
  Lists due(Time now);
  // When due() has one, if no other digest comes.
  std::optional<Time> next_due() const;

  void acknowledge(const p4::v1::DigestListAck& acknowledgement);

 private:
  using Bytes = std::set<std::string>;
  struct Sent {
    Time at;
    Bytes digests;
  };
  struct Kind {
    p4::v1::DigestEntry entry;
    p4::v1::DigestList buffer;
    Bytes buffered;
    Time first_at;
    std::map<std::uint64_t, Sent> sent;  // by list
    std::size_t unacknowledged = 0;      // digests in `sent`
    Bytes known;                         // all of them
  };

  std::size_t room(const Kind& kind) const;
  void take(Kind& kind, Time now, Lists& lists);
  void forget(Kind& kind, std::map<std::uint64_t, Sent>::iterator list);

  mutable std::mutex mutex_;
  std::map<std::uint32_t, Kind> kinds_;
  std::uint64_t next_list_ = 1;
};

}  // namespace turntable::p4runtime_server
