#include "farreach/ycsb/ycsb_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "common/command_error.h"

namespace turntable::ycsb {
namespace {

constexpr int kProbeMs = 20;
constexpr int kEndMs = 5'000;

bool ended_within(const node::Process& process, int milliseconds) {
  pollfd polled{process.pidfd.get(), POLLIN, 0};
  return ::poll(&polled, 1, milliseconds) == 1;
}

void send(const node::Process& process, int signal) {
  ::syscall(SYS_pidfd_send_signal, process.pidfd.get(), signal, nullptr, 0U);
}

}  // namespace

YcsbProcess::YcsbProcess(std::vector<std::string> argv, const std::filesystem::path& log,
                         std::string input) {
  std::filesystem::remove(log);
  const node::ProcessSpec spec{
      .argv = std::move(argv), .environment = {}, .log_file = log, .input = std::move(input)};
  keeper_ = std::thread([this, spec] { keep(spec); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return started_; });
  if (error_.empty()) return;
  lock.unlock();
  keeper_.join();
  throw CommandError("unavailable", error_ +
                                        "; expected Java: Debian's package "
                                        "openjdk-17-jre-headless");
}

YcsbProcess::~YcsbProcess() {
  stop();
  keeper_.join();
}

void YcsbProcess::stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
}

std::optional<int> YcsbProcess::wait(Deadline deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.time_point(), [&] { return status_.has_value(); });
  return status_;
}

void YcsbProcess::keep(const node::ProcessSpec& spec) {
  {
    const std::lock_guard lock(mutex_);
    try {
      process_ = node::start_process(spec);
    } catch (const std::exception& error) {
      error_ = error.what();
    }
    started_ = true;
    changed_.notify_all();
    if (!error_.empty()) return;
  }
  await_end();
  int status = 0;
  ::waitpid(process_.pid, &status, 0);
  const std::lock_guard lock(mutex_);
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  changed_.notify_all();
}

void YcsbProcess::await_end() {
  while (!ended_within(process_, kProbeMs)) {
    {
      const std::lock_guard lock(mutex_);
      if (!stop_) continue;
    }
    send(process_, SIGTERM);
    if (!ended_within(process_, kEndMs)) send(process_, SIGKILL);
    return;
  }
}

}  // namespace turntable::ycsb
