#include "homa/nodes/message_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"

namespace turntable::homa {

MessageServer::MessageServer(const Settings& settings, Peers peers,
                             const net::DatagramSettings& local)
    : settings_(settings),
      peers_(std::move(peers)),
      wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      transport_(open_transport(settings.transport, Role::kServer, local, 0, peers_, *this)) {
  if (!wake_event_) throw errno_error("cannot create an eventfd");
  thread_ = std::thread([this] { run(); });
}

MessageServer::~MessageServer() {
  stopping_ = true;
  ::eventfd_write(wake_event_.get(), 1);
  thread_.join();
}

void MessageServer::begin_window() {
  const std::lock_guard lock(mutex_);
  read_late_max_ns_ = 0;
  echoed_bytes_ = 0;
  scheduling_before_ = scheduling_of_thread(thread_id_);
}

ServerStatistics MessageServer::statistics() {
  const std::lock_guard lock(mutex_);
  ServerStatistics statistics{.transport = transport_->statistics(),
                              .echoed_bytes = echoed_bytes_,
                              .socket_drops = transport_->socket_drops(),
                              .read_late_max_ns = std::nullopt,
                              .scheduling = std::nullopt};
  if (transport_->knows_arrivals()) statistics.read_late_max_ns = read_late_max_ns_;
  if (const auto now = scheduling_of_thread(thread_id_); now && scheduling_before_)
    statistics.scheduling = *now - *scheduling_before_;
  return statistics;
}

void MessageServer::request(RpcId id, Peer /*client*/, Content content) {
  if (settings_.response_bytes > 0) {
    content.size = settings_.response_bytes;
    content.bytes.resize(content.size);
  }
  echoed_bytes_ += content.size;
  transport_->reply(id, std::move(content));
}

void MessageServer::run() {
  use_precise_timers();
  if (settings_.realtime) use_realtime_priority();
  {
    const std::lock_guard lock(mutex_);
    thread_id_ = ::gettid();
  }
  while (!stopping_) {
    serve();
    wait();
  }
}

void MessageServer::serve() {
  const std::lock_guard lock(mutex_);
  while (transport_->receive() > 0) {
    if (const auto came_ns = transport_->first_came_ns())
      read_late_max_ns_ = std::max(read_late_max_ns_, realtime_ns() - *came_ns);
    transport_->handle_batch(monotonic_ns());
    transport_->act(monotonic_ns(), INT64_MAX);
  }
  transport_->act(monotonic_ns(), INT64_MAX);
}

void MessageServer::wait() noexcept {
  std::int64_t until_ns = 0;
  {
    const std::lock_guard lock(mutex_);
    until_ns = transport_->next_due_ns();
  }
  std::array<pollfd, 2> polled = {{{wake_event_.get(), POLLIN, 0}, {transport_->fd(), POLLIN, 0}}};
  const timespec left = to_timespec(std::max<std::int64_t>(0, until_ns - monotonic_ns()));
  ::ppoll(polled.data(), polled.size(), &left, nullptr);
  eventfd_t ignored = 0;
  if (polled[0].revents != 0) ::eventfd_read(wake_event_.get(), &ignored);
}

}  // namespace turntable::homa
