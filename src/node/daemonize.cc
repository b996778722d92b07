#include "node/daemonize.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable::node {
namespace {

// First byte on the pipe; a failure is followed by its message.
constexpr char kReady = 'r';
constexpr char kFailed = 'f';

void write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;  // the parent has gone
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t got = 0;
  while ((got = ::read(fd, chunk.data(), chunk.size())) != 0) {
    if (got < 0 && errno != EINTR) throw errno_error("cannot read from the background process");
    if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// Where the kernel groups tasks by session (autogroup), nice orders only the members of a session.
// The new session as a whole gets this process's nice value, so that it also holds against the rest
// of the machine. Without that kernel option there is no such file, and nothing to do.
void prioritize_session() {
  const int nice_value = ::getpriority(PRIO_PROCESS, 0);
  std::ofstream("/proc/self/autogroup") << nice_value;
}

// Everything but the standard streams and those `kept`: somebody may wait for the end of a pipe
// that the caller had open.
void close_inherited(std::array<int, 2> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = STDERR_FILENO + 1;
  for (const int fd : kept) {
    const auto stay = static_cast<unsigned>(fd);
    if (stay > from) ::syscall(SYS_close_range, from, stay - 1, 0U);
    from = stay + 1;
  }
  ::syscall(SYS_close_range, from, ~0U, 0U);
}

void detach(const std::filesystem::path& log_file, std::array<int, 2> kept) {
  close_inherited(kept);
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd log(::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log) throw errno_error("cannot open " + log_file.native());
  ::setsid();
  prioritize_session();
  if (::chdir("/") != 0) throw errno_error("cannot change to /");
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(log.get(), STDOUT_FILENO);
  ::dup2(log.get(), STDERR_FILENO);
}

}  // namespace

void daemonize(const std::filesystem::path& log_file, int kept,
               const std::function<void(const std::function<void()>& ready)>& serve) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw errno_error("cannot create a pipe");
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw errno_error("cannot fork");
  if (child == 0) {
    reader.reset();
    int status = 0;
    try {
      detach(log_file, {kept, writer.get()});
      serve([&writer] {
        write_all(writer.get(), std::string(1, kReady));
        writer.reset();
      });
    } catch (const std::exception& error) {
      if (writer) write_all(writer.get(), kFailed + std::string(error.what()));
      std::cerr << error.what() << std::endl;
      status = 1;
    }
    ::_exit(status);
  }
  writer.reset();
  const std::string report = read_all(reader.get());
  if (report.empty()) {
    throw std::runtime_error("the background process ended before it was ready; see " +
                             log_file.native());
  }
  if (report[0] != kReady) throw std::runtime_error(report.substr(1));
}

}  // namespace turntable::node
