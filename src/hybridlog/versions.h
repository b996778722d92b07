// The cut between two versions of a store (after Prasaad, Chandramouli, Kossmann, "Concurrent
// Prefix Recovery", SIGMOD 2019): for every session, the operations up to one of them belong to
// version v, all later ones to v + 1, and nothing of v depends on anything of v + 1.
//
//            ask                        all prepared                    all crossed
//   kRest ---------> kPrepare --------------------------> kCross ---------------------> kRest
//                    sessions end what is                 sessions cross to v + 1       v is stable
//                    pending, and from then on            between two operations
//                    wait for each operation
//
// So a session that crosses has nothing pending. What is pending may wait for another store, which
// may not answer for long: then the cut is given up while it is prepared, and sessions are in v as
// before. Once sessions cross, an operation that waits so crosses, too, and is pending in v + 1.
//
// A record says the version in which it was written.
// What a session in version s may do with the newest record of a key, of version r:
//
//   r = s       as always
//   r = s + 1   cross first: another session has, and what it wrote is not to be seen in s. Such a
//               record lies at or above the cut's address. A header has 12 bits of r, which those
//               of a record below it may have as well: it is of 4,095 versions ago
//   r < s       v = s - 1 is stable: nobody writes it any more, it is copied to be changed
//               else: sessions in v may still add to it in place, an addition waits; other changes
//               are new records, which need no old value
//
// A session is known to the cut as long as its object lives: its thread must take part often. One
// that begins again after it has ended goes on counting where it was, until it is forgotten.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "hybridlog/address.h"
#include "hybridlog/record.h"
#include "hybridlog/session_id.h"

namespace turntable::hybridlog {

// Of the last operation of a version; sessions that have none are not there.
using Serials = std::map<SessionId, std::uint64_t>;

class Versions {
 public:
  class Member;
  enum class Phase : std::uint8_t { kRest, kPrepare, kCross };
  using Clock = std::chrono::steady_clock;

  // begin: what lies below it in the log is of earlier versions. ended: sessions of an earlier
  // store.
  Versions(std::uint64_t first, Address begin, const Serials& ended = {});

  std::uint64_t version() const noexcept { return version_.load(); }
  // No session is in this version or an older one any more.
  std::uint64_t stable() const noexcept { return stable_.load(); }
  Phase phase() const noexcept { return phase_.load(); }
  // Of the last cut: what lies at or above it is of the version that it ended, or of the next one.
  Address cut_address() const noexcept { return cut_address_.load(); }

  // Makes a cut: returns when all sessions have crossed, with their serial numbers. crossing: is
  // called before the first one crosses, and returns where the log ends. Nothing: it was given up,
  // no session has crossed. gives_up: is asked again and again before that. One cut at a time. Not
  // to be called by a thread that has sessions.
  std::optional<Serials> cut(
      const std::function<Address()>& crossing,
      const std::function<bool()>& gives_up = [] { return false; });

  // Sessions that have ended before, or of an earlier store that had ended when this one began.
  void forget_ended(Clock::time_point before);

 private:
  void enter(Phase phase);
  template <typename Done>
  bool are_all(const Done& done) const;

  std::atomic<std::uint64_t> version_, stable_;
  std::atomic<Phase> phase_{Phase::kRest};
  std::atomic<Address> cut_address_;
  std::mutex cut_mutex_;  // held during a cut
  std::mutex mutex_;      // of what follows, and of members' states
  std::condition_variable changed_;
  std::set<Member*> members_;
  struct Ended {
    std::uint64_t serial;  // of its last operation
    Clock::time_point at;
  };
  std::map<SessionId, Ended> ended_;
  Serials left_;  // sessions that have ended during the cut: with the last operation of its version
};

// A session's part in it; of the session's thread.
class Versions::Member {
 public:
  // wake: has the thread take part soon, if it waits for something else. By another thread, which
  // holds a lock: it must not call anything here. Throws std::logic_error where a session of this
  // id lives already.
  Member(Versions& versions, SessionId id, std::function<void()> wake);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  std::uint64_t version() const noexcept { return version_; }
  // Where a record's header has it.
  std::uint64_t version_bits() const noexcept { return version_bits_; }
  // Of the last operation that has begun.
  std::uint64_t serial() const noexcept { return serial_; }
  // Whether there is something to do for a cut; cheap.
  bool is_asked() const noexcept {
    const Phase phase = versions_.phase_.load(std::memory_order_acquire);
    return phase != Phase::kRest &&
           (phase == Phase::kPrepare ? !is_prepared_ : version_ != versions_.version());
  }
  // Operations have to be waited for: the session is prepared and has not crossed.
  bool waits() const noexcept { return is_prepared_; }

  void begin_operation() noexcept { ++serial_; }
  // Nothing is pending any more. Where the cut was given up meanwhile: nothing is to be done.
  void prepare();
  // in_operation: the operation that has begun belongs to the new version.
  void cross(bool in_operation);

 private:
  friend class Versions;

  void take_version() noexcept {
    version_ = versions_.version();
    version_bits_ = Header(0, version_).word();
  }

  Versions& versions_;
  const SessionId id_;
  const std::function<void()> wake_;
  std::uint64_t version_, version_bits_;
  std::uint64_t serial_;
  std::atomic<bool> is_prepared_{false};  // written under the mutex
  bool has_crossed_ = false;              // under the mutex
  std::uint64_t cut_serial_ = 0;
};

}  // namespace turntable::hybridlog
