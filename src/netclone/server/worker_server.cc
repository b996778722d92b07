#include "netclone/server/worker_server.h"

#include <unistd.h>

#include <utility>

#include "common/clock.h"
#include "common/data_path_thread.h"

namespace turntable::netclone {

WorkerServer::WorkerServer(const ServerSettings& settings,
                           std::unique_ptr<net::Datagrams> datagrams, std::vector<Work> work)
    : ServerThread(settings, std::move(datagrams)) {
  for (Work& each : work) workers_.emplace_back([this, mine = std::move(each)] { work_on(mine); });
  begin();
}

WorkerServer::~WorkerServer() {
  end();
  {
    const std::lock_guard lock(queue_mutex_);
    stopping_ = true;
  }
  not_empty_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

// Waits for the workers, whose processor time is counted with the server's.
void WorkerServer::settle() {
  std::unique_lock lock(queue_mutex_);
  all_started_.wait(lock, [&] { return worker_ids_.size() == workers_.size(); });
  for (const pid_t worker : worker_ids_) count_thread(worker);
}

void WorkerServer::admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
                         std::int64_t /*now_ns*/) {
  std::uint32_t queue = 0;
  bool dropped = false;
  {
    const std::lock_guard lock(queue_mutex_);
    queue = waiting();
    dropped = settings().drop_clones && packet.clone == Clone::kClone && queue > 0;
    if (!dropped) {
      fifo_.push({.packet = packet,
                  .from = from,
                  .arrival_ns = arrival_ns,
                  .service_ns = settings().service_ns(packet),
                  .arrived_at_all_busy = busy_ + fifo_.size() >= settings().workers});
    }
  }
  if (!dropped) not_empty_.notify_one();
  counts().count_arrival(window(), packet, arrival_ns, queue, dropped);
}

void WorkerServer::work_on(const Work& work) {
  use_precise_timers();
  std::unique_lock lock(queue_mutex_);
  worker_ids_.push_back(::gettid());
  all_started_.notify_one();
  for (;;) {
    not_empty_.wait(lock, [&] { return stopping_ || !fifo_.empty(); });
    if (stopping_) return;
    Job job = fifo_.pop();
    ++busy_;
    lock.unlock();
    job.start_ns = monotonic_ns();
    work(job);
    const std::int64_t now = monotonic_ns();
    lock.lock();
    done_.push({.completion = {.job = job,
                               .due_ns = job.start_ns + job.service_ns,
                               .queue = waiting(),
                               .all_busy = busy_ == settings().workers},
                .done_ns = now});
    --busy_;
    wake();
  }
}

void WorkerServer::complete_until(std::int64_t /*until_ns*/) {
  for (;;) {
    Done done;
    {
      const std::lock_guard lock(queue_mutex_);
      if (done_.empty()) return;
      done = done_.pop();
    }
    answer(done.completion, done.done_ns);
  }
}

std::uint32_t WorkerServer::queue() {
  const std::lock_guard lock(queue_mutex_);
  return waiting();
}

// What an idle worker is about to take does not wait.
std::uint32_t WorkerServer::waiting() const noexcept {
  const std::uint32_t idle = settings().workers - busy_;
  const auto length = static_cast<std::uint32_t>(fifo_.size());
  return length > idle ? length - idle : 0;
}

bool WorkerServer::all_busy() {
  const std::lock_guard lock(queue_mutex_);
  return busy_ == settings().workers;
}

}  // namespace turntable::netclone
