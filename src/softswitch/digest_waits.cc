#include "softswitch/digest_waits.h"

#include <nlohmann/json.hpp>

namespace turntable::softswitch {

void DigestWaits::take_from(dataplane::ControlPlane& control) {
  control_ = &control;
  const std::lock_guard lock(mutex_);
  for (Wait& wait : waits_) wait.over = true;
  answered_.notify_all();
}

void DigestWaits::give_out() {
  const std::lock_guard lock(mutex_);
  for (Wait& wait : waits_) {
    if (control_->digests_waiting() == 0) break;
    if (wait.answer || wait.over) continue;
    wait.answer = control_->execute("digest_read", wait.args);
  }
  answered_.notify_all();
}

std::optional<nlohmann::json> DigestWaits::finish(std::list<Wait>::iterator wait,
                                                  Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return wait->answer.has_value() || wait->over || closed_; };
  if (deadline.is_never()) {
    answered_.wait(lock, done);
  } else {
    answered_.wait_until(lock, deadline.time_point(), done);
  }
  std::optional<nlohmann::json> answer = std::move(wait->answer);
  waits_.erase(wait);
  --waiting_;
  return answer;
}

void DigestWaits::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  answered_.notify_all();
}

}  // namespace turntable::softswitch
