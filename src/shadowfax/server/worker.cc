#include "shadowfax/server/worker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "common/accept_failure.h"
#include "common/clock.h"
#include "common/errno_error.h"
#include "common/schedstat.h"
#include "net/who_makes_room.h"

namespace turntable::shadowfax {
namespace {

constexpr int kBacklog = 128;
constexpr int kAcceptPauseMs = 100;  // where no descriptor is left
// Who has yet to prove himself must not hold descriptors and memory for long, or many.
constexpr std::size_t kMostUnopened = 64;
constexpr std::int64_t kAcceptPauseNs = kAcceptPauseMs * kMillisecondNs;

sockaddr_in address_of(const WorkerSettings& settings) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(settings.port);
  if (::inet_pton(AF_INET, settings.address.c_str(), &address.sin_addr) != 1)
    throw std::invalid_argument("address " + settings.address + "; expected an IPv4 address");
  const bool is_of_this_machine = ntohl(address.sin_addr.s_addr) >> 24U == IN_LOOPBACKNET;
  if (!settings.secret && !is_of_this_machine) {
    throw std::invalid_argument(
        "address " + settings.address +
        " without a secret: anybody could read and change what is stored; expected an address of "
        "this machine alone, 127.0.0.0/8, or a secret: --secret FILE");
  }
  return address;
}

UniqueFd listen_at(const WorkerSettings& settings) {
  const sockaddr_in address = address_of(settings);
  const std::string where = settings.address + ":" + std::to_string(settings.port);
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw errno_error("cannot open a socket");
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    throw errno_error("cannot listen at " + where);
  }
  return socket;
}

std::uint16_t port_of(int socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw errno_error("cannot read a socket's name");
  return ntohs(address.sin_port);
}

}  // namespace

Worker::Worker(hybridlog::Store& store, const Commits& commits, const Serving& serving,
               const RangeCheck* ranges, const WorkerSettings& settings)
    : store_(store),
      commits_(commits),
      serving_(serving),
      ranges_(ranges),
      settings_(settings),
      listening_(listen_at(settings)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      port_(port_of(listening_.get())),
      capacity_(settings.capacity_per_s) {
  if (!epoll_ || !wake_) throw errno_error("cannot open an epoll or an eventfd");
  for (const int fd : {listening_.get(), wake_.get()}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      throw errno_error("cannot watch a socket");
  }
}

Worker::~Worker() = default;

void Worker::stop() {
  stops_.store(true);
  wake();
}

void Worker::wake() const noexcept {
  ::eventfd_write(wake_.get(), 1);
}

void Worker::run() {
  ::pthread_getcpuclockid(::pthread_self(), &cpu_clock_);
  tid_ = ::gettid();
  thread_.emplace(store_.epoch());
  thread_->protect();
  std::array<epoll_event, 64> events;
  std::int64_t busy_ns = monotonic_ns();
  while (!stops_.load(std::memory_order_relaxed)) {
    const std::int64_t now_ns = monotonic_ns();
    if (listen_again_ns_ != 0 && now_ns >= listen_again_ns_) {
      listen_again_ns_ = 0;
      watch_listening();
    }
    const bool waits = now_ns - busy_ns > settings_.spin.count() && !is_waited_for();
    if (!unopened_.empty()) end_late_openings(now_ns);
    // Nobody has to wait for a thread that waits itself.
    if (waits) thread_->unprotect();
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   waits ? longest_wait_ms(now_ns) : 0);
    if (waits) thread_->protect();
    was_idle_ = was_idle_ || count <= 0;
    if (count > 0) {
      handle(std::span(events).first(static_cast<std::size_t>(count)));
      busy_ns = now_ns;
    }
    thread_->refresh();
    if (is_waited_for()) go_on();
  }
  connections_.clear();
  left_.clear();
  thread_.reset();
}

WorkerReading Worker::read() const {
  WorkerReading reading{.operations = counts_.operations.get(),
                        .pending = counts_.pending.get(),
                        .batches = counts_.batches.get(),
                        .refused_batches = counts_.refused_batches.get(),
                        .sessions = counts_.sessions.get(),
                        .refused_openings = {},
                        .waited_ns = {}};
  for (std::size_t i = 0; i < reading.refused_openings.size(); ++i)
    reading.refused_openings[i] = counts_.refused_openings[i].get();
  const pid_t tid = tid_;
  if (tid == 0) return reading;
  reading.cpu_ns = clock_ns(cpu_clock_);
  if (const auto times = scheduling_of_thread(tid)) reading.waited_ns = times->wait_ns;
  return reading;
}

void Worker::handle(std::span<const epoll_event> events) {
  for (const epoll_event& event : events) {
    if (event.data.fd == listening_.get()) {
      accept();
    } else if (event.data.fd == wake_.get()) {
      eventfd_t ignored = 0;
      ::eventfd_read(wake_.get(), &ignored);
      take_part();
    } else if (const auto found = connections_.find(event.data.fd); found != connections_.end()) {
      Connection& connection = *found->second;
      const bool was_blocked = connection.is_blocked();
      keep(connection, was_blocked ? connection.go_on() : connection.receive());
    }
  }
}

void Worker::take_part() {
  for (const auto& [fd, connection] : connections_) connection->take_part();
  for (const auto& session : left_) session->take_part();
}

// Answers leave when it has had the time for them. What came while it was busy has waited for it:
// that it is looked at late costs nothing.
void Worker::take_time(std::size_t operations) {
  std::int64_t now_ns = monotonic_ns();
  capacity_.begin(was_idle_ ? now_ns : free_ns_, now_ns);
  was_idle_ = false;
  free_ns_ =
      capacity_.end(static_cast<std::int64_t>(operations) * capacity_.service_ns()).finish_ns;
  while (now_ns < free_ns_ && !stops_.load(std::memory_order_relaxed)) {
    thread_->unprotect();
    pollfd woken{.fd = wake_.get(), .events = POLLIN, .revents = 0};
    const timespec left = to_timespec(free_ns_ - now_ns);
    const bool is_woken = ::ppoll(&woken, 1, &left, nullptr) > 0;
    thread_->protect();
    if (is_woken) {
      eventfd_t ignored = 0;
      ::eventfd_read(wake_.get(), &ignored);
      take_part();
    }
    now_ns = monotonic_ns();
  }
}

// A connection that cannot be accepted would wake this thread again and again.
void Worker::watch_listening() {
  epoll_event event{.events = listen_again_ns_ == 0 ? EPOLLIN : 0U,
                    .data = {.fd = listening_.get()}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listening_.get(), &event);
}

// -1: until something comes.
int Worker::longest_wait_ms(std::int64_t now_ns) const noexcept {
  if (listen_again_ns_ != 0) return kAcceptPauseMs;
  if (unopened_.empty()) return -1;
  const std::int64_t left_ns = std::max<std::int64_t>(0, unopened_.front().until_ns - now_ns);
  return static_cast<int>(left_ns / kMillisecondNs) + 1;
}

void Worker::end_late_openings(std::int64_t now_ns) {
  while (!unopened_.empty() && unopened_.front().until_ns <= now_ns) {
    counts_.refuse(OpeningRefusal::kSilent, "a client has not opened its session in time");
    close(*connections_.at(unopened_.front().fd));
  }
}

void Worker::accept() {
  for (;;) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    UniqueFd socket(::accept4(listening_.get(), reinterpret_cast<sockaddr*>(&from), &length,
                              SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (!is_out_of_resources(errno)) return;
      listen_again_ns_ = monotonic_ns() + kAcceptPauseNs;
      watch_listening();
      return;
    }
    const int yes = 1, fd = socket.get();
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) continue;
    if (unopened_.size() >= kMostUnopened) make_room();
    unopened_.push_back({.fd = fd,
                         .from = from.sin_addr.s_addr,
                         .until_ns = monotonic_ns() + settings_.opening_time.count()});
    connections_[fd] = std::make_unique<Connection>(
        std::move(socket),
        BatchServer::Place{.store = store_,
                           .thread = *thread_,
                           .commits = commits_,
                           .serving = serving_,
                           .wake = [this] { wake(); },
                           .most_pending = settings_.most_pending,
                           .ranges = ranges_},
        counts_, settings_.secret,
        capacity_.limited() ? [this](std::size_t operations) { take_time(operations); }
                            : Connection::TakeTime());
  }
}

void Worker::make_room() {
  const auto goes = net::who_makes_room(unopened_, &Opened::from, [this](const Opened& each) {
    return connections_.at(each.fd)->has_spoken();
  });
  counts_.refuse(OpeningRefusal::kCrowded, "too many clients open their sessions at once");
  close(*connections_.at(goes->fd));
}

// A client that does not take its replies is waited for.
void Worker::keep(Connection& connection, Connection::State state) {
  if (state == Connection::State::kClosed) {
    close(connection);
    return;
  }
  const int fd = connection.fd();
  if (!unopened_.empty() && connection.is_open())
    std::erase_if(unopened_, [fd](const Opened& each) { return each.fd == fd; });
  if (connection.is_blocked() == connection.is_watched_for_room) return;
  connection.is_watched_for_room = connection.is_blocked();
  epoll_event event{.events = connection.is_blocked() ? EPOLLOUT : EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Worker::close(Connection& connection) {
  const int fd = connection.fd();
  std::erase_if(unopened_, [fd](const Opened& each) { return each.fd == fd; });
  if (auto session = connection.leave()) left_.push_back(std::move(session));
  connections_.erase(fd);
}

void Worker::go_on() {
  for (auto next = connections_.begin(); next != connections_.end();) {
    Connection& connection = *(next++)->second;  // which may go
    if (connection.has_pending()) keep(connection, connection.go_on());
  }
  std::erase_if(left_, [](const auto& session) { return session->leave(); });
}

bool Worker::is_waited_for() const noexcept {
  return !left_.empty() || std::any_of(connections_.begin(), connections_.end(),
                                       [](const auto& each) { return each.second->has_pending(); });
}

}  // namespace turntable::shadowfax
