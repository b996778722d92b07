#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "common/errno_error.h"
#include "common/unique_fd.h"
#include "hybridlog/device.h"

namespace turntable::hybridlog {
namespace {

constexpr mode_t kMode = 0644;

class FileDevice : public Device {
 public:
  explicit FileDevice(const std::string& path) {
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC;
    file_ = UniqueFd(::open(path.c_str(), flags | O_DIRECT, kMode));
    is_direct_ = static_cast<bool>(file_);
    // tmpfs before Linux 6.6 and others have no direct access.
    if (!file_ && errno == EINVAL) file_ = UniqueFd(::open(path.c_str(), flags, kMode));
    if (!file_) throw errno_error("cannot open " + path);
  }

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    written_bytes_.fetch_add(size, std::memory_order_relaxed);
    return all(size, [&](std::size_t done) {
      return ::pwrite(file_.get(), data + done, size - done, static_cast<off_t>(offset + done));
    });
  }

  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    count_read(size);
    return all(size, [&](std::size_t done) {
      return ::pread(file_.get(), data + done, size - done, static_cast<off_t>(offset + done));
    });
  }

  std::error_code sync() override {
    return ::fdatasync(file_.get()) == 0 ? std::error_code()
                                         : std::error_code(errno, std::system_category());
  }

  // Not every file system has files with holes.
  std::error_code discard(std::uint64_t offset, std::uint64_t size) override {
    while (::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       static_cast<off_t>(offset), static_cast<off_t>(size)) != 0)
      if (errno != EINTR) return {errno, std::system_category()};
    return {};
  }

  int file() const noexcept override { return file_.get(); }
  void count_read(std::size_t bytes) noexcept override {
    reads_.fetch_add(1, std::memory_order_relaxed);
    read_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  Traffic traffic() const noexcept override {
    return {.reads = reads_.load(std::memory_order_relaxed),
            .read_bytes = read_bytes_.load(std::memory_order_relaxed),
            .written_bytes = written_bytes_.load(std::memory_order_relaxed)};
  }
  bool is_direct() const noexcept override { return is_direct_; }

 private:
  template <typename Part>
  static std::error_code all(std::size_t size, const Part& part) {
    for (std::size_t done = 0; done < size;) {
      const ssize_t moved = part(done);
      if (moved < 0 && errno == EINTR) continue;
      if (moved < 0) return {errno, std::system_category()};
      if (moved == 0) return std::make_error_code(std::errc::io_error);  // beyond the file's end
      done += static_cast<std::size_t>(moved);
    }
    return {};
  }

  UniqueFd file_;
  bool is_direct_ = false;
  std::atomic<std::uint64_t> reads_{0}, read_bytes_{0}, written_bytes_{0};
};

}  // namespace

std::unique_ptr<Device> open_file(const std::string& path) {
  return std::make_unique<FileDevice>(path);
}

}  // namespace turntable::hybridlog
