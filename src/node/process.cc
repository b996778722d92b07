#include "node/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include "common/errno_error.h"

extern char** environ;

namespace turntable::node {
namespace {

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : added) {
    std::string& entry = merged.emplace_back(name);
    entry.append("=").append(value);
  }
  return merged;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the forked child, where other threads' locks may be held: system calls only.
struct ChildStart {
  char* const* argv;
  char* const* envp;
  int input_fd;
  int log_fd;
  int error_fd;  // close-on-exec; errno is written there when the program cannot be executed
  pid_t parent;

  [[noreturn]] void run() const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // the parent died before the line above
    ::setsid();
    ::dup2(input_fd, STDIN_FILENO);
    ::dup2(log_fd, STDOUT_FILENO);
    ::dup2(log_fd, STDERR_FILENO);
    ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
    reset_signals();
    ::execvpe(argv[0], argv, envp);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(error_fd, &error, sizeof(error));
    ::_exit(127);
  }

  static void reset_signals() {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }
};

UniqueFd open_or_throw(const std::filesystem::path& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!fd) throw errno_error("cannot open " + path.native());
  return fd;
}

// A file without a name: what it holds is on no disk, in no argument and in no environment.
UniqueFd input_of(const ProcessSpec& spec) {
  if (spec.input.empty()) return open_or_throw("/dev/null", O_RDONLY);
  UniqueFd fd(::memfd_create("input", MFD_CLOEXEC));
  if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0) throw errno_error("cannot create a memfd");
  const auto size = static_cast<ssize_t>(spec.input.size());
  if (::pwrite(fd.get(), spec.input.data(), spec.input.size(), 0) != size) {
    throw errno_error("cannot write the input of " + spec.argv[0]);
  }
  return fd;
}

// 0: the program was executed. Otherwise errno of the child's attempt.
int exec_error(int error_fd) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(error_fd, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(error) ? error : 0;
}

// The parent's pid in /proc/PID/stat: the second field after the last ')', because the name may
// hold anything.
pid_t parent_of(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::istringstream fields(stat.substr(name_end + 1));
  char state = 0;
  pid_t parent = -1;
  fields >> state >> parent;
  return state == 'Z' ? -1 : parent;
}

// A file of a process that ends meanwhile fails to be read (ESRCH): then what came so far. A
// stream's buffer would throw, its `read` does not.
std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4096> chunk;
  std::string text;
  while (file.read(chunk.data(), chunk.size()), file.gcount() > 0)
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

Process start_process(const ProcessSpec& spec) {
  std::vector<std::string> arguments = spec.argv;
  std::vector<std::string> environment = merged_environment(spec.environment);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(environment);
  const UniqueFd input = input_of(spec);
  const UniqueFd log = open_or_throw(spec.log_file, O_WRONLY | O_CREAT | O_APPEND);
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw errno_error("cannot create a pipe");
  const UniqueFd error_reader(pipe_ends[0]);
  UniqueFd error_writer(pipe_ends[1]);

  const ChildStart child{argv.data(), envp.data(),        input.get(),
                         log.get(),   error_writer.get(), ::getpid()};
  const pid_t pid = ::fork();
  if (pid < 0) throw errno_error("cannot fork for " + spec.argv[0]);
  if (pid == 0) child.run();
  error_writer.reset();
  if (const int error = exec_error(error_reader.get()); error != 0) {
    ::waitpid(pid, nullptr, 0);
    throw errno_error("cannot execute " + spec.argv[0], error);
  }
  // The pid cannot be reused yet: only the caller's thread reaps.
  Process process{pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
  if (!process.pidfd) throw errno_error("cannot open a pidfd of " + spec.argv[0]);
  return process;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> processes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    processes.push_back(pid);
  }
  return processes;
}

std::vector<pid_t> child_processes() {
  std::vector<pid_t> children = all_processes();
  std::erase_if(children, [self = ::getpid()](pid_t pid) {
    return parent_of(read_file("/proc/" + std::to_string(pid) + "/stat")) != self;
  });
  return children;
}

std::string environment_of(pid_t pid, const std::string& name) {
  std::istringstream entries(read_file("/proc/" + std::to_string(pid) + "/environ"));
  const std::string prefix = name + "=";
  for (std::string entry; std::getline(entries, entry, '\0');) {
    if (entry.starts_with(prefix)) return entry.substr(prefix.size());
  }
  return {};
}

std::string command_line_of(pid_t pid) {
  std::string line = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  if (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

}  // namespace turntable::node
