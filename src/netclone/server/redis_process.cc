#include "netclone/server/redis_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>

#include "common/clock.h"
#include "common/command_error.h"
#include "netclone/server/redis_connection.h"

namespace turntable::netclone {
namespace {

constexpr std::int64_t kStartNs = 10'000'000'000;
constexpr int kEndMs = 5'000;
constexpr int kProbeMs = 5;

bool ended_within(const node::Process& process, int milliseconds) {
  pollfd polled{process.pidfd.get(), POLLIN, 0};
  return ::poll(&polled, 1, milliseconds) == 1;
}

}  // namespace

RedisProcess::RedisProcess(const std::filesystem::path& directory, const std::string& name)
    : socket_(directory / (name + ".redis.sock")), log_(directory / (name + ".redis.log")) {
  std::filesystem::remove(socket_);  // of one that was killed
  keeper_ = std::thread([this] { keep(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return state_ != State::kStarting; });
  if (state_ == State::kRuns) return;
  lock.unlock();
  keeper_.join();
  throw CommandError("unavailable", error_);
}

RedisProcess::~RedisProcess() {
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kStop;
  }
  changed_.notify_all();
  keeper_.join();
}

void RedisProcess::keep() {
  std::unique_lock lock(mutex_);
  try {
    start();
    state_ = State::kRuns;
  } catch (const std::exception& error) {
    error_ = error.what();
    state_ = State::kFailed;
  }
  changed_.notify_all();
  changed_.wait(lock, [&] { return state_ != State::kRuns; });
  stop();
}

void RedisProcess::start() {
  const std::string directory = log_.parent_path();
  try {
    process_ = node::start_process(
        {.argv = {"redis-server", "--port", "0", "--unixsocket", socket_, "--unixsocketperm", "700",
                  "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", directory,
                  "--loglevel", "warning"},
         .environment = {},
         .log_file = log_,
         .input = {}});
  } catch (const std::exception& error) {
    throw CommandError("unavailable", std::string(error.what()) +
                                          "; expected Debian's package redis-server: `make setup` "
                                          "installs it");
  }
  wait_for_socket();
}

void RedisProcess::wait_for_socket() const {
  const std::int64_t deadline = monotonic_ns() + kStartNs;
  while (!RedisConnection::answers(socket_)) {
    const bool ended = ended_within(process_, kProbeMs);
    if (!ended && monotonic_ns() < deadline) continue;
    throw CommandError("unavailable", "redis-server " +
                                          std::string(ended ? "has ended" : "does not answer") +
                                          ": expected its socket " + socket_.native() +
                                          " within 10 s; see " + log_.native());
  }
}

void RedisProcess::stop() noexcept {
  if (process_.pid < 0) return;
  ::syscall(SYS_pidfd_send_signal, process_.pidfd.get(), SIGTERM, nullptr, 0U);
  if (!ended_within(process_, kEndMs)) {
    ::syscall(SYS_pidfd_send_signal, process_.pidfd.get(), SIGKILL, nullptr, 0U);
  }
  ::waitpid(process_.pid, nullptr, 0);
}

}  // namespace turntable::netclone
