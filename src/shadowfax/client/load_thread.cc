#include "shadowfax/client/load_thread.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/clock.h"
#include "common/errno_error.h"
#include "common/pinning.h"
#include "hybridlog/key_hash.h"
#include "shadowfax/client/value_pattern.h"
#include "shadowfax/ownership.h"
#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

ClientSession::Settings session_at(const LoadSettings& settings, std::size_t server,
                                   unsigned thread) {
  const ServerAddress& at = settings.servers[server];
  return {.address = at.address,
          .port = at.port_for(thread),
          .batch_requests = settings.batch_requests,
          .pipeline = settings.pipeline,
          .value_bytes = settings.value_bytes};
}

std::int64_t cpu_time_ns() noexcept {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace

class LoadThread::Answers final : public ClientSession::Replies {
 public:
  Answers(LoadThread& thread, std::size_t server) : thread_(thread), server_(server) {}

  void done(const Reply& reply, std::uint64_t context) override {
    thread_.done(server_, reply, context);
  }
  void pending() override {
    if (LoadSecond* const second = thread_.second_of(thread_.read_ns_)) {
      ++second->pending;
      ++thread_.statistics_.pending;
    }
  }
  void batch_done(std::int64_t round_trip_ns) override {
    if (!thread_.schedule_.in_window(thread_.read_ns_)) return;
    ++thread_.statistics_.batches;
    thread_.statistics_.round_trip_ns.record(round_trip_ns);
  }
  void batch_refused() override {
    if (thread_.schedule_.in_window(thread_.read_ns_)) ++thread_.statistics_.refused_batches;
  }

 private:
  LoadThread& thread_;
  const std::size_t server_;
};

LoadThread::LoadThread(const LoadSettings& settings, unsigned thread)
    : settings_(settings),
      thread_(thread),
      source_(settings, thread),
      rest_(settings.value_bytes - kFewestValueBytes),
      mark_(workload::stream_seed(settings.seed, settings.client, thread)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      frame_(*this) {
  if (!epoll_) throw errno_error("cannot open an epoll");
  for (std::size_t server = 0; server < settings.servers.size(); ++server) {
    peers_.push_back(
        {.session = std::make_unique<ClientSession>(session_at(settings, server, thread))});
    epoll_event event{.events = EPOLLIN, .data = {.u64 = server}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, peers_.back().session->fd(), &event) != 0)
      throw errno_error("cannot watch a socket");
  }
  if (!settings.rate_per_s) return;
  // Sessions say themselves what they have room for.
  open_loop_.emplace(
      load::OpenLoop::Settings{.outstanding_max = SIZE_MAX, .give_up_ns = INT64_MAX / 4});
}

void LoadThread::set_schedule(const load::Schedule& schedule) {
  schedule_ = schedule;
  frame_.set_schedule(schedule);
  statistics_.seconds.resize(
      static_cast<std::size_t>((schedule.window_ns() + kSecondNs - 1) / kSecondNs));
  for (LoadSecond& second : statistics_.seconds) second.by_server.resize(peers_.size());
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
  for (std::size_t server = 0; server < peers_.size(); ++server)
    guarded(server, [](ClientSession& session) { session.flush(); });
}

int LoadThread::receive() noexcept {
  count_ = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
  return count_ = std::max(count_, 0);
}

void LoadThread::handle_batch(std::int64_t /*now_ns*/) noexcept {
  for (int i = 0; i < count_; ++i) {
    const std::size_t server = events_[static_cast<std::size_t>(i)].data.u64;
    guarded(server, [&](ClientSession& session) {
      read_ns_ = monotonic_ns();
      Answers answers(*this, server);
      session.receive(answers);
    });
  }
}

void LoadThread::act(std::int64_t now_ns) noexcept {
  go_on_after_pauses(now_ns);
  if (open_loop_) {
    send_due(now_ns);
  } else {
    fill_pipelines();
  }
  for (std::size_t server = 0; server < peers_.size(); ++server) watch(server);
}

void LoadThread::fill_pipelines() {
  while (phase_ != load::Phase::kDrain && !is_lost_) {
    if (!held_) held_ = source_.next();
    const std::size_t server = owner(*held_);
    if (!peers_[server].session->has_room()) return;
    add(server, *held_, held_->key);
    held_.reset();
  }
}

// What is due at one instant goes together.
void LoadThread::send_due(std::int64_t now_ns) {
  while (!is_lost_) {
    open_loop_->set_limit(waiting() + room());
    const auto number = open_loop_->take_due(now_ns);
    if (!number) break;
    const Request request = source_.next();
    if (!rest_.empty() && request.opcode == Opcode::kRead) keys_.emplace(*number, request.key);
    add(owner(request), request, *number);
    now_ns = monotonic_ns();
  }
  for (std::size_t server = 0; server < peers_.size(); ++server)
    guarded(server, [](ClientSession& session) { session.flush(); });
}

void LoadThread::add(std::size_t server, const Request& request, std::uint64_t context) {
  if (request.opcode == Opcode::kAdd) ++statistics_.adds_issued_total;
  if (!rest_.empty() && request.opcode != Opcode::kRead)
    ValuePattern(request.key, ++mark_).write(rest_);
  guarded(server, [&](ClientSession& session) { session.add(request, rest_, context); });
}

std::size_t LoadThread::owner(const Request& request) const noexcept {
  return owner_of(hybridlog::hash_of(request.key), peers_.size());
}

// Of the session that has least.
std::size_t LoadThread::room() const noexcept {
  std::size_t least = SIZE_MAX;
  for (const Peer& peer : peers_)
    if (peer.session) least = std::min(least, peer.session->room());
  return least;
}

std::size_t LoadThread::waiting() const noexcept {
  std::size_t all = 0;
  for (const Peer& peer : peers_)
    if (peer.session) all += peer.session->outstanding();
  return all;
}

std::size_t LoadThread::outstanding() const noexcept {
  if (is_lost_) return 0;
  return open_loop_ ? open_loop_->open() : waiting();
}

void LoadThread::go_on_after_pauses(std::int64_t now_ns) noexcept {
  for (std::size_t server = 0; server < peers_.size(); ++server) {
    if (peers_[server].session && peers_[server].session->pause_ends_ns() <= now_ns)
      guarded(server, [](ClientSession& session) { session.go_on(); });
  }
}

std::int64_t LoadThread::next_due_ns() const noexcept {
  std::int64_t due_ns = open_loop_ && !is_lost_ ? open_loop_->next_due_ns() : INT64_MAX;
  for (const Peer& peer : peers_)
    if (peer.session) due_ns = std::min(due_ns, peer.session->pause_ends_ns());
  return due_ns;
}

void LoadThread::watch(std::size_t server) noexcept {
  Peer& peer = peers_[server];
  if (!peer.session || peer.session->is_blocked() == peer.is_watched_for_room) return;
  peer.is_watched_for_room = peer.session->is_blocked();
  epoll_event event{.events = peer.is_watched_for_room ? EPOLLIN | EPOLLOUT : EPOLLIN,
                    .data = {.u64 = server}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, peer.session->fd(), &event);
}

template <typename Step>
void LoadThread::guarded(std::size_t server, const Step& step) noexcept {
  Peer& peer = peers_[server];
  if (!peer.session) return;
  try {
    step(*peer.session);
  } catch (const SessionError& error) {
    lose(server, error.what());
  }
}

// The measurement is void: nothing more is asked.
void LoadThread::lose(std::size_t server, const char* why) noexcept {
  statistics_.unanswered_total += peers_[server].session->outstanding();
  peers_[server].session.reset();
  is_lost_ = true;
  ++statistics_.lost_sessions;
  if (statistics_.lost_why.empty()) statistics_.lost_why = why;
}

void LoadThread::done(std::size_t server, const Reply& reply, std::uint64_t context) noexcept {
  if (open_loop_) open_loop_->answered(context, read_ns_, read_ns_);
  const bool failed =
      reply.status == ReplyStatus::kNoSpace || reply.status == ReplyStatus::kIoError;
  if (reply.opcode == Opcode::kAdd && reply.status == ReplyStatus::kOk)
    ++statistics_.adds_acknowledged_total;
  if (is_wrong(reply, context)) ++statistics_.wrong_values_total;
  LoadSecond* const second = second_of(read_ns_);
  if (second == nullptr) return;
  if (failed) {
    ++statistics_.failed;
    return;
  }
  ++second->operations;
  ++second->by_server[server];
  if (reply.status == ReplyStatus::kNotFound) ++statistics_.not_found;
  switch (reply.opcode) {
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
  return reply.length != settings_.value_bytes ||
         !ValuePattern::is_right(key, reply.bytes.subspan(kFewestValueBytes));
}

// Null outside of the window.
LoadSecond* LoadThread::second_of(std::int64_t at_ns) noexcept {
  if (!schedule_.in_window(at_ns)) return nullptr;
  return &statistics_
              .seconds[static_cast<std::size_t>((at_ns - schedule_.window_from_ns) / kSecondNs)];
}

void LoadThread::end() noexcept {
  statistics_.unanswered_total += waiting();
  if (open_loop_) open_loop_->end();
}

ThreadResult LoadThread::result() const {
  ThreadResult result{
      .load = statistics_, .timing = frame_.timing(), .cpu_ns = cpu_ns_, .open_loop = {}};
  if (open_loop_) result.open_loop = open_loop_->statistics();
  return result;
}

}  // namespace turntable::shadowfax
