#include "node/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <stdexcept>

#include "common/command_error.h"
#include "common/errno_error.h"

namespace turntable::node {
namespace {

constexpr int kBacklog = 64;

sockaddr_un unix_address(const std::filesystem::path& path) {
  sockaddr_un address{};
  const std::string& text = path.native();
  if (text.size() >= sizeof(address.sun_path)) {
    throw std::runtime_error("control socket " + text + ": the path has " +
                             std::to_string(text.size()) + " bytes, a Unix socket allows at most " +
                             std::to_string(sizeof(address.sun_path) - 1) +
                             "; use a shorter run directory or node name");
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

UniqueFd stream_socket(int flags = 0) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd) throw errno_error("cannot create a Unix socket");
  return fd;
}

UniqueFd lock_directory(const std::filesystem::path& directory) {
  UniqueFd lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) {
    throw errno_error("cannot open the run directory " + directory.native() +
                      " (it has to exist before the node starts)");
  }
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw errno_error("cannot lock the run directory " + directory.native());
  }
  return lock;
}

void remove_stale(const std::filesystem::path& path) {
  const std::filesystem::file_status status = std::filesystem::symlink_status(path);
  if (status.type() == std::filesystem::file_type::not_found) return;
  if (status.type() != std::filesystem::file_type::socket) {
    throw std::runtime_error("control socket " + path.native() +
                             ": the path exists and is not a socket; remove it or choose another "
                             "run directory");
  }
  if (connect_unix(path)) {
    throw std::runtime_error("control socket " + path.native() +
                             ": a live node listens there already; shut it down or choose another "
                             "node name or run directory");
  }
  std::filesystem::remove(path);
}

}  // namespace

std::filesystem::path socket_path(const std::filesystem::path& directory,
                                  const std::string& node_name) {
  if (node_name.empty() || node_name.front() == '.' || node_name.find('/') != std::string::npos ||
      node_name.find('\0') != std::string::npos) {
    throw bad_argument("node name \"" + node_name +
                       "\": expected a file name without '/' that does not begin with '.'");
  }
  return directory / (node_name + ".sock");
}

UniqueFd listen_unix(const std::filesystem::path& path) {
  const sockaddr_un address = unix_address(path);
  const UniqueFd lock = lock_directory(path.has_parent_path() ? path.parent_path() : ".");
  remove_stale(path);
  UniqueFd fd = stream_socket();
  // The file is made with the socket's own mode: never, whatever the umask, may others connect.
  if (::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0)
    throw errno_error("cannot set the mode of the control socket " + path.native());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw errno_error("cannot bind the control socket " + path.native());
  if (::listen(fd.get(), kBacklog) != 0)
    throw errno_error("cannot listen on the control socket " + path.native());
  return fd;
}

UniqueFd connect_unix(const std::filesystem::path& path) {
  const sockaddr_un address = unix_address(path);
  // Non-blocking: a listener whose backlog is full is an error (EAGAIN) instead of a wait without
  // deadline.
  UniqueFd fd = stream_socket(SOCK_NONBLOCK);
  while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return UniqueFd();
    if (errno != EINTR) throw errno_error("cannot connect to the control socket " + path.native());
  }
  return fd;
}

}  // namespace turntable::node
