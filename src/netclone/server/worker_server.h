// Modes with a thread per worker, each of which does the work itself: `spin`, and `redis` without
// dilation. For machines with a processor for every worker, and one more.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "common/ring.h"
#include "netclone/server/server_thread.h"

namespace turntable::netclone {

class WorkerServer final : public ServerThread {
 public:
  // Does a job's work on a worker's thread. May change its service time to what was planned.
  using Work = std::function<void(Job&)>;

  // work: of each worker.
  WorkerServer(const ServerSettings& settings, std::unique_ptr<net::Datagrams> datagrams,
               std::vector<Work> work);
  ~WorkerServer() override;

 private:
  struct Done {
    Slots::Completion completion;
    std::int64_t done_ns;
  };

  void work_on(const Work& work);
  std::uint32_t waiting() const noexcept;
  void settle() override;
  void admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
             std::int64_t now_ns) override;
  void complete_until(std::int64_t until_ns) override;
  std::uint32_t queue() override;
  bool all_busy() override;

  std::mutex queue_mutex_;  // of what follows; after the server's
  std::condition_variable not_empty_;
  Ring<Job> fifo_;
  Ring<Done> done_;
  std::uint32_t busy_ = 0;
  bool stopping_ = false;
  std::vector<pid_t> worker_ids_;
  std::condition_variable all_started_;

  std::vector<std::thread> workers_;
};

}  // namespace turntable::netclone
