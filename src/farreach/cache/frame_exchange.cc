#include "farreach/cache/frame_exchange.h"

#include <random>
#include <utility>

namespace turntable::cache {
namespace {

// So many frames fit the CPU port's buffers and queues; more would only be lost.
constexpr std::size_t kWindow = 256;
// An answer takes far less than a millisecond unless queues are full or the switch has stopped.
constexpr std::int64_t kRetryNs = 100'000'000;

}  // namespace

FrameExchange::Answers::Answers(FrameExchange& exchange, std::vector<ControlFrame> frames)
    : exchange_(exchange), frames_(std::move(frames)), left_(frames_.size()) {
  for (std::size_t index = 0; index < frames_.size(); ++index) exchange_.add(*this, index);
  exchange_.send_waiting();
}

FrameExchange::Answers::~Answers() {
  if (left_ == 0) return;
  for (const std::uint32_t id : ids_) exchange_.forget(id);
}

void FrameExchange::Answers::answered(std::size_t index, const ControlFrame& answer) {
  frames_[index] = answer;
  if (--left_ == 0 && waiting_) waiting_.resume();
}

// Answers to an agent that has died must not pass for those of its successor: ids begin anywhere.
FrameExchange::FrameExchange(Driver& driver, net::Timers& timers)
    : driver_(driver), timers_(timers), next_id_(std::random_device{}()) {}

FrameExchange::~FrameExchange() {
  if (timer_ != 0) timers_.cancel(timer_);
}

net::Task<ControlFrame> FrameExchange::ask(ControlFrame frame) {
  std::vector<ControlFrame> frames(1, frame);
  const std::vector<ControlFrame> answers = co_await ask_all(std::move(frames));
  co_return answers.front();
}

void FrameExchange::add(Answers& asker, std::size_t index) {
  const std::uint32_t id = next_id_++;
  asker.ids_.push_back(id);
  ControlFrame& frame = asker.frames_[index];
  frame.request_id = id;
  waiting_.emplace(id, Question{&asker, index, frame});
}

void FrameExchange::forget(std::uint32_t id) {
  waiting_.erase(id);
  const auto sent = under_way_.find(id);
  if (sent == under_way_.end()) return;
  by_time_.erase(sent->second.place);
  under_way_.erase(sent);
}

void FrameExchange::send_waiting() {
  while (!waiting_.empty() && under_way_.size() < kWindow) {
    auto node = waiting_.extract(waiting_.begin());
    const std::uint32_t id = node.key();
    under_way_.insert(std::move(node));
    send(id, under_way_.at(id));
  }
  arm();
}

void FrameExchange::send(std::uint32_t id, Question& question) {
  question.again_at_ns = timers_.now_ns() + kRetryNs;
  question.place = by_time_.insert(by_time_.end(), id);
  ++counters_.sent;
  driver_.send(question.frame);
}

void FrameExchange::arm() {
  if (timer_ != 0 || by_time_.empty()) return;
  timer_ = timers_.call_at(under_way_.at(by_time_.front()).again_at_ns, [this] { retry_due(); });
}

void FrameExchange::retry_due() {
  timer_ = 0;
  const std::int64_t now = timers_.now_ns();
  while (!by_time_.empty() && under_way_.at(by_time_.front()).again_at_ns <= now) {
    const std::uint32_t id = by_time_.front();
    by_time_.pop_front();
    ++counters_.retries;
    send(id, under_way_.at(id));
  }
  arm();
}

void FrameExchange::received(const ControlFrame& answer) {
  const auto found = under_way_.find(answer.request_id);
  if (found == under_way_.end() || found->second.frame.operation != answer.operation ||
      found->second.frame.slot != answer.slot) {
    ++counters_.unexpected;
    return;
  }
  ++counters_.answered;
  const Question question = found->second;
  by_time_.erase(question.place);
  under_way_.erase(found);
  send_waiting();
  question.asker->answered(question.index, answer);  // may resume, and so destroy, the asker
}

}  // namespace turntable::cache
