// Connections that wait for digests (`digest_wait`).
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/deadline.h"
#include "dataplane/control.h"

namespace turntable::softswitch {

// Digests go to who has waited longest; each to one only.
class DigestWaits {
 public:
  explicit DigestWaits(dataplane::ControlPlane& control) : control_(&control) {}

  // The pipeline thread: digests of this program from now on. Who waits for those of the one before
  // waits no longer.
  void take_from(dataplane::ControlPlane& control);

  // The pipeline thread, after every batch: gives out what there is. One load where nobody waits.
  void offer() {
    if (waiting_.load(std::memory_order_relaxed) != 0) give_out();
  }

  // Any other thread. The answer of digest_read, nothing at the deadline or the end of the switch.
  // `args` are those of digest_read. The caller then makes the pipeline thread call offer(), as
  // digests may be there already: `begin` does that.
  template <typename Begin>
  std::optional<nlohmann::json> wait(const nlohmann::json& args, Deadline deadline, Begin begin);

  // Any thread: ends all waits, now and later.
  void close();

 private:
  struct Wait {
    nlohmann::json args;
    std::optional<nlohmann::json> answer;
    bool over = false;  // without an answer
  };

  void give_out();
  std::optional<nlohmann::json> finish(std::list<Wait>::iterator wait, Deadline deadline);

  dataplane::ControlPlane* control_;  // the pipeline thread's
  std::atomic<int> waiting_{0};
  std::mutex mutex_;
  std::condition_variable answered_;
  std::list<Wait> waits_;
  bool closed_ = false;
};

template <typename Begin>
std::optional<nlohmann::json> DigestWaits::wait(const nlohmann::json& args, Deadline deadline,
                                                Begin begin) {
  std::list<Wait>::iterator wait;
  {
    const std::lock_guard lock(mutex_);
    wait = waits_.insert(waits_.end(), {args, std::nullopt, false});
    ++waiting_;
  }
  try {
    begin();
  } catch (...) {
    finish(wait, Deadline::after_seconds(0));
    throw;
  }
  return finish(wait, deadline);
}

}  // namespace turntable::softswitch
