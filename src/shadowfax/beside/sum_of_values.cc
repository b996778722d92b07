#include "shadowfax/beside/sum_of_values.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "shadowfax/client/open_sessions.h"

namespace turntable::shadowfax {
namespace {

constexpr int kLookMs = 20;  // how often the deadline is looked at

class Reader : private Sessions::Replies {
 public:
  Reader(const Servers& servers, std::int64_t deadline_ns)
      : sessions_(open_sessions(servers, {}, 0)), deadline_ns_(deadline_ns) {}

  SumOfValues read(std::uint64_t keys) {
    for (std::uint64_t key = 0; key < keys; ++key) {
      while (!sessions_->has_room(key)) wait();
      sessions_->add({Opcode::kRead, key, 0}, {}, key);
    }
    sessions_->flush();
    while (!sessions_->is_idle()) wait();
    return found_;
  }

 private:
  void done(const Reply& reply, std::uint64_t context) override {
    if (reply.status == ReplyStatus::kNotFound) return;
    if (reply.status != ReplyStatus::kOk) {
      throw SessionError("key " + std::to_string(context) + " has no number: " +
                         (refusal_.empty() ? "its value is another text" : refusal_));
    }
    found_.sum += reply.value;
    ++found_.found;
  }
  void refused(std::string_view why) override { refusal_ = why; }

  void wait() {
    if (monotonic_ns() > deadline_ns_) throw std::runtime_error("the deadline has passed");
    sessions_->wait(*this, kLookMs);
    if (sessions_->lost_sessions() > 0) throw SessionError(sessions_->lost_why());
  }

  const std::unique_ptr<Sessions> sessions_;
  const std::int64_t deadline_ns_;
  SumOfValues found_;
  std::string refusal_;
};

}  // namespace

SumOfValues sum_of_values(const Servers& servers, std::uint64_t keys, std::int64_t deadline_ns) {
  return Reader(servers, deadline_ns).read(keys);
}

}  // namespace turntable::shadowfax
