#include "mcload/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/standard_output.h"

namespace turntable::mcload {
namespace {

constexpr mode_t kMode = 0666;

}  // namespace

OutputFile::OutputFile(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)) {
  if (path_ == "-") return;
  fd_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  is_new_ = static_cast<bool>(fd_);
  if (!fd_ && errno == EEXIST)
    fd_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
  if (!fd_) fail(errno);
}

OutputFile::~OutputFile() {
  if (is_new_) ::unlink(path_.c_str());
}

void OutputFile::write(const std::string& contents) {
  if (!fd_) return print_result(contents);
  if (::ftruncate(fd_.get(), 0) != 0 && errno != EINVAL) fail(errno);  // EINVAL: a pipe
  for (std::string_view left = contents; !left.empty();) {
    const ssize_t written = ::write(fd_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  is_new_ = false;
}

void OutputFile::fail(int error) const {
  throw std::runtime_error(option_ + " " + path_ + ": " + std::strerror(error) +
                           "; expected a file that can be written, in a directory that exists and "
                           "has room");
}

}  // namespace turntable::mcload
