#include "hybridlog/compaction.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "hybridlog/sized_value.h"

namespace turntable::hybridlog {
namespace {

// A session with what it needs, which keeps records.
class Keeper {
 public:
  Keeper(Store& store, std::size_t most_pending, Compacted& done)
      : thread_(store.epoch()), session_(store, thread_), most_pending_(most_pending), done_(done) {
    thread_.protect();
  }

  void keep(LogPage::Found found) {
    const Record& record = *found.record;
    const std::size_t bytes = record.bytes();
    settle(session_.keep(record.key, value_of(record), Header(record.header).is_tombstone(),
                         found.address, bytes),
           bytes);
    while (session_.pending() > most_pending_) go_on();
  }
  // Others do not have to wait for this thread.
  void refresh() { session_.complete_pending(settled()); }
  void finish() {
    while (session_.pending() > 0) go_on();
  }

 private:
  Session::Completed settled() {
    return [this](std::uint64_t bytes, Session::Answer answer) { settle(answer.status, bytes); };
  }
  void go_on() {
    refresh();
    std::this_thread::yield();
  }
  void settle(Status status, std::size_t bytes) {
    switch (status) {
      case Status::kOk:
        ++done_.kept;
        done_.kept_bytes += bytes;
        break;
      case Status::kNoSpace:
        throw std::system_error(std::make_error_code(std::errc::no_space_on_device),
                                "compaction: what is kept has no room");
      case Status::kIoError:
        throw std::system_error(std::make_error_code(std::errc::io_error),
                                "compaction: the device does not give a record");
      case Status::kWrongSize:  // its value was in this log
      case Status::kPending:
      case Status::kNotFound:
        break;
    }
  }

  Epoch::Thread thread_;
  Session session_;
  const std::size_t most_pending_;
  Compacted& done_;
};

}  // namespace

Compaction::Compaction(Store& store, CompactionSettings settings)
    : store_(store),
      settings_(std::move(settings)),
      page_(store),
      newer_(settings_.most_remembered) {}

// At the start of a page.
Address Compaction::limit() const {
  const Log& log = store_.log();
  return page_.start_of(
      std::min({settings_.until, log.safe_read_only(), log.flushed_until(),
                settings_.may_truncate_until(), store_.elsewhere().lowest_floor()}));
}

// The session lives for a page: while the next one is read it holds up neither epochs nor cuts.
Compacted Compaction::run(const std::stop_token& stop) {
  const Address begin = store_.log().begin(), until = limit();
  done_ = {};
  std::ranges::fill(newer_, 0);
  for (Address end = until; end > begin; end = page_.start_of(end - 1)) {
    const Address start = page_.start_of(end - 1);
    page_.read(start);
    keep_page(std::max(start, begin), end, stop);
    if (stop.stop_requested()) return done_;
  }
  const Address freed = std::min(until, limit());
  if (freed > begin) {
    store_.log().truncate(freed);
    done_.freed_bytes = freed - begin;
  }
  return done_;
}

void Compaction::keep_page(Address from, Address until, const std::stop_token& stop) {
  constexpr std::uint64_t kBetweenRefreshes = 256;
  records_.clear();
  for (auto found = page_.first(from, until); found; found = page_.next(found, until))
    records_.push_back(found);
  Keeper keeper(store_, settings_.most_pending, done_);
  for (auto found = records_.rbegin(); found != records_.rend(); ++found) {
    if (stop.stop_requested()) break;
    if (++done_.seen % kBetweenRefreshes == 0) keeper.refresh();
    if (Header(found->record->header).is_indirection()) continue;  // it counts no more
    const std::uint64_t hash = found->record->hash();
    if (has_newer(hash)) continue;
    if (Header(found->record->header).is_tombstone() && !settings_.keeps_tombstones) continue;
    if (settings_.is_wanted(hash)) keeper.keep(*found);
  }
  keeper.finish();
}

// Hashes are as good as keys. Of the one that is 0 it is never known.
bool Compaction::has_newer(std::uint64_t hash) noexcept {
  return std::exchange(newer_[hash & (newer_.size() - 1)], hash) == hash && hash != 0;
}

}  // namespace turntable::hybridlog
