#include "shadowfax/server/compactor.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "shadowfax/server/stoppable_pause.h"

namespace turntable::shadowfax {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr std::chrono::milliseconds kAfterFailure{1000};

}  // namespace

Compactor::Compactor(hybridlog::Store& store, CompactionGate& gate, Settings settings)
    : store_(store),
      gate_(gate),
      settings_(std::move(settings)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Compactor::~Compactor() {
  const CompactionGate::Closed closed(gate_);
  thread_.request_stop();
  thread_.join();
}

Compactor::Counts Compactor::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Compactor::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const bool is_due = bytes_on_device() > std::max(settings_.above_bytes, 2 * live_bytes_);
    pause(!is_due || compact() ? kBetweenLooks : kAfterFailure, stop);
  }
}

// False: it is to be tried again some time later.
bool Compactor::compact() {
  const auto stop = gate_.enter();
  if (!stop) return false;
  bool is_done = false;
  try {
    if (const auto how = settings_.how()) {
      const hybridlog::Compacted done = hybridlog::Compaction(store_, *how).run(*stop);
      is_done = done.freed_bytes > 0;
      if (is_done) note(done);
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    ++counts_.failed;
    counts_.why = error.what();
  }
  gate_.leave();
  return is_done;
}

void Compactor::note(const hybridlog::Compacted& done) {
  live_bytes_ = done.kept_bytes;
  // Where that fails the next time gives back this, too.
  if (settings_.gives_back) static_cast<void>(store_.log().give_back(store_.log().begin()));
  const std::lock_guard lock(mutex_);
  ++counts_.made;
  counts_.kept_records += done.kept;
  counts_.freed_bytes += done.freed_bytes;
  counts_.why.clear();
}

std::uint64_t Compactor::bytes_on_device() const {
  // In this order: begin follows.
  const hybridlog::Address begin = store_.log().begin();
  return store_.log().flushed_until() - begin;
}

}  // namespace turntable::shadowfax
