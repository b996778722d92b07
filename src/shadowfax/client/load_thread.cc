#include "shadowfax/client/load_thread.h"

#include <algorithm>

#include "common/clock.h"
#include "common/pinning.h"
#include "shadowfax/client/open_sessions.h"
#include "shadowfax/client/value_pattern.h"
#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

std::int64_t cpu_time_ns() noexcept {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace

class LoadThread::Answers final : public Sessions::Replies {
 public:
  explicit Answers(LoadThread& thread) : thread_(thread) {}

  void from(ServerNumber server) override { thread_.begin_read(server); }
  void done(const Reply& reply, std::uint64_t context) override {
    if (thread_.is_wrong(reply, context)) ++thread_.statistics_.wrong_values_total;
    if (reply.status == ReplyStatus::kNoSpace) refused("the store's device is full");
    if (reply.status == ReplyStatus::kIoError) refused("the store's device did not give a record");
    thread_.done(reply.opcode, reply.status, context);
  }
  // It was done, and whether it found its key was lost with the answer.
  void recovered(Opcode opcode, std::uint64_t context) override {
    if (thread_.open_loop_) thread_.keys_.erase(context);
    thread_.done(opcode, ReplyStatus::kOk, context);
  }
  // Worse than any other failure: these words are the ones that are said.
  void lost_acknowledged(const Reply& reply) override {
    thread_.statistics_.failed_why = why_lost(reply.status);
    ++thread_.statistics_.failed_total;
  }
  void refused(std::string_view why) override {
    std::string& first = thread_.statistics_.failed_why;
    if (first.empty()) first = why;
  }
  void pending() override {
    if (thread_.sample_ == nullptr) return;
    ++thread_.sample_->pending;
    ++thread_.statistics_.pending;
  }
  void batch_done(std::int64_t round_trip_ns) override {
    if (thread_.sample_ == nullptr) return;
    ++thread_.statistics_.batches;
    thread_.statistics_.round_trip_ns.record(round_trip_ns);
  }
  void batch_refused() override {
    if (thread_.sample_ == nullptr) return;
    ++thread_.sample_->refused_batches;
    ++thread_.statistics_.refused_batches;
  }

 private:
  LoadThread& thread_;
};

LoadThread::LoadThread(const LoadSettings& settings, unsigned thread)
    : settings_(settings),
      thread_(thread),
      source_(settings, thread),
      rest_(settings.batching.value_bytes - kFewestValueBytes),
      mark_(workload::stream_seed(settings.seed, settings.client, thread)),
      sessions_(open_sessions(settings.servers, settings.batching, thread)),
      frame_(*this) {
  if (!settings.rate_per_s) return;
  // Sessions say themselves what they have room for.
  open_loop_.emplace(
      load::OpenLoop::Settings{.outstanding_max = SIZE_MAX, .give_up_ns = INT64_MAX / 4});
}

void LoadThread::set_schedule(const load::Schedule& schedule) {
  schedule_ = schedule;
  frame_.set_schedule(schedule);
  const std::int64_t sample_ns = settings_.sample_ns;
  statistics_.samples.resize(
      static_cast<std::size_t>((schedule.window_ns() + sample_ns - 1) / sample_ns));
  for (LoadSample& sample : statistics_.samples) sample.by_server.resize(sessions_->servers());
  if (!open_loop_) return;
  const load::Arrivals arrivals({.rate_per_s = *settings_.rate_per_s / settings_.threads});
  const std::uint64_t stream = std::uint64_t{settings_.client} * settings_.threads + thread_;
  open_loop_->set_schedule(schedule, load::drawn_gaps(arrivals, settings_.seed, stream));
}

void LoadThread::run() {
  pin_this_thread(settings_.cpus, thread_);
  frame_.run();
}

void LoadThread::begin(std::int64_t now_ns) noexcept {
  act(now_ns);
}

void LoadThread::enter(load::Phase phase) noexcept {
  phase_ = phase;
  if (phase == load::Phase::kMeasure) cpu_before_ns_ = cpu_time_ns();
  if (phase != load::Phase::kDrain) return;
  cpu_ns_ = cpu_time_ns() - cpu_before_ns_;
  sessions_->flush();
}

void LoadThread::handle_batch(std::int64_t /*now_ns*/) noexcept {
  Answers answers(*this);
  sessions_->receive(answers);
}

void LoadThread::act(std::int64_t now_ns) noexcept {
  Answers answers(*this);
  sessions_->go_on(answers, now_ns);
  if (open_loop_) {
    send_due(now_ns);
  } else {
    fill_pipelines();
  }
}

void LoadThread::fill_pipelines() {
  while (phase_ != load::Phase::kDrain && !is_lost()) {
    if (!held_) held_ = source_.next();
    if (!sessions_->has_room(held_->key)) return;
    add(*held_, held_->key);
    held_.reset();
  }
}

// What is due at one instant goes together.
void LoadThread::send_due(std::int64_t now_ns) {
  while (!is_lost()) {
    open_loop_->set_limit(sessions_->outstanding() + sessions_->room());
    const auto number = open_loop_->take_due(now_ns);
    if (!number) break;
    const Request request = source_.next();
    if (!rest_.empty() && request.opcode == Opcode::kRead) keys_.emplace(*number, request.key);
    add(request, *number);
    now_ns = monotonic_ns();
  }
  sessions_->flush();
}

void LoadThread::add(const Request& request, std::uint64_t context) {
  if (request.opcode == Opcode::kAdd) ++statistics_.adds_issued_total;
  if (!rest_.empty() && request.opcode != Opcode::kRead)
    ValuePattern(request.key, ++mark_).write(rest_);
  sessions_->add(request, rest_, context);
}

std::size_t LoadThread::outstanding() const noexcept {
  if (is_lost()) return 0;
  const std::size_t open = open_loop_ ? open_loop_->open() : sessions_->outstanding();
  // What a server has lost is awaited, too, though it was answered once.
  return open == 0 && !sessions_->is_idle() ? 1 : open;
}

std::int64_t LoadThread::next_due_ns() const noexcept {
  const std::int64_t due_ns = sessions_->next_due_ns();
  return open_loop_ && !is_lost() ? std::min(due_ns, open_loop_->next_due_ns()) : due_ns;
}

// Once for all answers that come together: operations are too many to look for their sample.
void LoadThread::begin_read(ServerNumber server) noexcept {
  server_ = server;
  read_ns_ = monotonic_ns();
  sample_ = nullptr;
  if (!schedule_.in_window(read_ns_)) return;
  const std::int64_t since_ns = read_ns_ - schedule_.window_from_ns;
  sample_ = &statistics_.samples[static_cast<std::size_t>(since_ns / settings_.sample_ns)];
  // One that has joined meanwhile has room, too.
  if (server >= sample_->by_server.size()) sample_->by_server.resize(std::size_t{server} + 1);
}

void LoadThread::done(Opcode opcode, ReplyStatus status, std::uint64_t context) noexcept {
  if (open_loop_) open_loop_->answered(context, read_ns_, read_ns_);
  const bool failed = status == ReplyStatus::kNoSpace || status == ReplyStatus::kIoError;
  if (opcode == Opcode::kAdd && status == ReplyStatus::kOk) ++statistics_.adds_acknowledged_total;
  if (failed) ++statistics_.failed_total;
  if (sample_ == nullptr) return;
  if (answered_ns_ != read_ns_) {
    const std::int64_t before_ns = std::max(answered_ns_, schedule_.window_from_ns);
    statistics_.silent_ns = std::max(statistics_.silent_ns, read_ns_ - before_ns);
    answered_ns_ = read_ns_;
  }
  if (failed) return;
  ++sample_->operations;
  ++sample_->by_server[server_];
  if (status == ReplyStatus::kNotFound) ++statistics_.not_found;
  switch (opcode) {
    case Opcode::kRead:
      ++statistics_.reads;
      break;
    case Opcode::kAdd:
      ++statistics_.adds;
      break;
    default:
      ++statistics_.upserts;
  }
}

// What was read is none of the values that clients write, or the store's has another length.
bool LoadThread::is_wrong(const Reply& reply, std::uint64_t context) noexcept {
  if (rest_.empty() || reply.opcode != Opcode::kRead)
    return reply.status == ReplyStatus::kWrongSize;
  const std::uint64_t key = open_loop_ ? keys_.extract(context).mapped() : context;
  if (reply.status != ReplyStatus::kOk) return reply.status == ReplyStatus::kWrongSize;
  return reply.length != settings_.batching.value_bytes ||
         !ValuePattern::is_right(key, reply.bytes.subspan(kFewestValueBytes));
}

void LoadThread::end() noexcept {
  statistics_.unanswered_total += sessions_->outstanding();
  statistics_.unreplayed_total = sessions_->unreplayed();
  statistics_.lost_sessions = sessions_->lost_sessions();
  statistics_.lost_why = sessions_->lost_why();
  if (open_loop_) open_loop_->end();
}

ThreadResult LoadThread::result() const {
  ThreadResult result{
      .load = statistics_, .timing = frame_.timing(), .cpu_ns = cpu_ns_, .open_loop = {}};
  if (open_loop_) result.open_loop = open_loop_->statistics();
  return result;
}

}  // namespace turntable::shadowfax
