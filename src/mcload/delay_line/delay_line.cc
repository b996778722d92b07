#include "mcload/delay_line/delay_line.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"
#include "mcload/connection.h"
#include "mcload/content.h"
#include "mcload/delay_line/replies.h"

namespace turntable::mcload {
namespace {

constexpr std::uint64_t kListener = 0;
constexpr std::uint64_t kWake = 1;
constexpr std::int64_t kMaxNs = 60'000'000'000;
constexpr std::uint32_t kUnknownBytes = 100;

void watch(int epoll, int fd, std::uint64_t id, std::uint32_t events, int operation) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (::epoll_ctl(epoll, operation, fd, &event) != 0) throw errno_error("cannot watch a socket");
}

}  // namespace

struct DelayLine::Client {
  std::uint64_t id = 0;
  Connection socket{Protocol::kAscii, 1};  // for its reading with stamps
  RequestReader requests;
  std::int64_t last_due_ns = 0;
  std::string out;
  bool is_blocked = false;
};

DelayLine::DelayLine(Settings settings)
    : settings_(std::move(settings)),
      listener_(settings_.address.listen()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      random_(settings_.seed),
      buffer_(std::size_t{256} * 1024),
      letters_(Content::kMaxValueBytes, 'v'),
      given_ns_(kMaxNs),
      drawn_ns_(kMaxNs),
      late_ns_(kMaxNs),
      gaps_ns_(kMaxNs) {
  if (!epoll_ || !wake_) throw errno_error("cannot create an epoll and an eventfd");
  watch(epoll_.get(), listener_.get(), kListener, EPOLLIN, EPOLL_CTL_ADD);
  watch(epoll_.get(), wake_.get(), kWake, EPOLLIN, EPOLL_CTL_ADD);
}

DelayLine::~DelayLine() = default;

void DelayLine::stop() noexcept {
  stopping_ = true;
  ::eventfd_write(wake_.get(), 1);
}

void DelayLine::run() {
  use_precise_timers();
  if (settings_.realtime) use_realtime_priority();
  settings_.slowdown.begin(monotonic_ns());
  std::array<epoll_event, 64> events{};
  while (!stopping_) {
    wait();
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;
      if (id == kListener) accept_all();
      const auto client = clients_.find(id);
      if (client == clients_.end()) continue;
      if ((events[static_cast<std::size_t>(i)].events & EPOLLOUT) != 0) write(*client->second);
      read(*client->second);
    }
    record_gaps();
    answer_due();
  }
}

// Connections are read in any order.
void DelayLine::record_gaps() {
  std::sort(arrivals_.begin(), arrivals_.end());
  for (const std::int64_t arrived_ns : arrivals_) {
    if (last_arrival_ns_ > 0)
      gaps_ns_.record(std::max<std::int64_t>(0, arrived_ns - last_arrival_ns_));
    last_arrival_ns_ = arrived_ns;
  }
  arrivals_.clear();
}

int DelayLine::wait() {
  pollfd polled{epoll_.get(), POLLIN, 0};
  if (answers_.empty()) return ::ppoll(&polled, 1, nullptr, nullptr);
  const std::int64_t left_ns =
      std::max<std::int64_t>(0, answers_.top().due_ns - settings_.spin_ns - monotonic_ns());
  const timespec left = to_timespec(left_ns);
  return ::ppoll(&polled, 1, &left, nullptr);
}

void DelayLine::accept_all() {
  for (;;) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    const std::uint64_t id = next_client_++;
    auto client = std::make_unique<Client>();
    client->id = id;
    watch(epoll_.get(), fd.get(), id, EPOLLIN, EPOLL_CTL_ADD);
    client->socket.connecting(std::move(fd));
    client->socket.open(settings_.address.is_tcp());
    clients_.emplace(id, std::move(client));
  }
}

void DelayLine::read(Client& client) {
  const auto read = client.socket.read(buffer_);
  if (read.bytes == -EAGAIN || read.bytes == -EINTR) return;
  if (read.bytes <= 0) return end(client.id);
  std::int64_t arrived_ns = monotonic_ns();
  if (read.is_stamped) arrived_ns -= std::max<std::int64_t>(0, realtime_ns() - read.arrived_ns);
  const std::uint64_t id = client.id;
  const bool is_right = client.requests.feed(
      {buffer_.data(), static_cast<std::size_t>(read.bytes)},
      [&](const ServerRequest& request) { take(client, request, arrived_ns); });
  if (!is_right) end(id);
}

void DelayLine::take(Client& client, const ServerRequest& request, std::int64_t arrived_ns) {
  using Kind = ServerRequest::Kind;
  Answer answer{.due_ns = arrived_ns,
                .sequence = sequence_++,
                .client = client.id,
                .arrived_ns = arrived_ns,
                .request = request,
                .key = std::string(request.is_binary ? "" : request.key),
                .is_hit = false,
                .value_bytes = kUnknownBytes};
  if (request.kind == Kind::kSet) records_[std::string(request.key)] = request.value_bytes;
  if (request.kind == Kind::kGet) {
    const auto record = records_.find(std::string(request.key));
    answer.is_hit = record != records_.end() || settings_.hits_always;
    if (record != records_.end()) answer.value_bytes = record->second;
  }
  if (request.kind == Kind::kStatsReset) reset_log();
  const bool has_delay =
      request.kind == Kind::kGet || (request.kind == Kind::kSet && !settings_.sets_at_once);
  if (has_delay) {
    answer.due_ns = due_ns(arrived_ns);
    arrivals_.push_back(arrived_ns);
  }
  answer.due_ns = client.last_due_ns = std::max(answer.due_ns, client.last_due_ns);
  answers_.push(std::move(answer));
}

std::int64_t DelayLine::due_ns(std::int64_t arrived_ns) {
  const double drawn = settings_.delay_us.value(workload::unit_interval(random_.next()));
  const double factor = settings_.slowdown.factor(arrived_ns);
  const auto delay_ns = static_cast<std::int64_t>(drawn * factor * 1e3);
  drawn_ns_.record(delay_ns);
  if (!settings_.is_fifo) return arrived_ns + delay_ns;
  free_ns_ = std::max(free_ns_, arrived_ns) + delay_ns;
  return free_ns_;
}

void DelayLine::answer_due() {
  std::int64_t now_ns = monotonic_ns();
  while (!answers_.empty() && answers_.top().due_ns <= now_ns) {
    give(answers_.top());
    answers_.pop();
    now_ns = monotonic_ns();
  }
}

void DelayLine::give(const Answer& answer) {
  const auto client = clients_.find(answer.client);
  if (client == clients_.end()) return;
  using Kind = ServerRequest::Kind;
  std::string& out = client->second->out;
  const Kind kind = answer.request.kind;
  if (kind == Kind::kStats) {
    append_log_reply(out, log());
  } else {
    append_reply(out, answer.request, answer.key, answer.is_hit,
                 std::string_view(letters_).substr(0, answer.value_bytes));
  }
  if (kind == Kind::kGet || kind == Kind::kSet) {
    const std::int64_t now_ns = monotonic_ns();
    ++(kind == Kind::kGet ? gets_ : sets_);
    if (kind == Kind::kGet || !settings_.sets_at_once) {
      given_ns_.record(now_ns - answer.arrived_ns);
      late_ns_.record(now_ns - answer.due_ns);
    }
  }
  if (kind == Kind::kQuit) return end(answer.client);
  if (!client->second->is_blocked) write(*client->second);
}

void DelayLine::write(Client& client) {
  const ssize_t sent =
      ::send(client.socket.fd(), client.out.data(), client.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return client.out.clear();  // read() ends it
  client.out.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
  const bool is_blocked = !client.out.empty();
  if (is_blocked == client.is_blocked) return;
  client.is_blocked = is_blocked;
  watch(epoll_.get(), client.socket.fd(), client.id, is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN,
        EPOLL_CTL_MOD);
}

void DelayLine::end(std::uint64_t client) {
  clients_.erase(client);
}

void DelayLine::reset_log() {
  given_ns_.clear();
  drawn_ns_.clear();
  late_ns_.clear();
  gaps_ns_.clear();
  last_arrival_ns_ = 0;
  gets_ = sets_ = 0;
}

nlohmann::json DelayLine::log() const {
  return {{"delay", settings_.delay_us.text()},
          {"fifo", settings_.is_fifo},
          {"gets", gets_},
          {"sets", sets_},
          {"given_ns", given_ns_.encode()},
          {"drawn_ns", drawn_ns_.encode()},
          {"late_ns", late_ns_.encode()},
          {"gaps_ns", gaps_ns_.encode()},
          {"given_p50_ns", given_ns_.value_at_percentile(50)},
          {"given_p99_ns", given_ns_.value_at_percentile(99)},
          {"given_p999_ns", given_ns_.value_at_percentile(99.9)},
          {"late_p50_ns", late_ns_.value_at_percentile(50)},
          {"late_p99_ns", late_ns_.value_at_percentile(99)},
          {"late_max_ns", late_ns_.max()}};
}

}  // namespace turntable::mcload
