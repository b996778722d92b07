#include "net/credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include "common/command_error.h"
#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable::net {
namespace {

// "8f2c…-…" of the kernel, as 16 bytes. Zeros where there is none: then only the times count.
std::array<std::uint8_t, 16> boot_of_this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::array<std::uint8_t, 16> boot{};
  std::size_t digits = 0;
  for (char c = 0; digits < 2 * boot.size() && file.get(c);) {
    const char text[] = {c, '\0'};
    char* end = nullptr;
    const auto digit = static_cast<std::uint8_t>(std::strtoul(text, &end, 16));
    if (end == text) continue;  // a hyphen
    boot[digits / 2] = static_cast<std::uint8_t>(boot[digits / 2] << 4 | digit);
    ++digits;
  }
  return boot;
}

std::uint64_t boottime_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

CommandError unusable(const std::filesystem::path& file, const std::string& why) {
  return bad_argument("the run's secret, " + file.native() + ": " + why);
}

std::string read_secret(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw unusable(file, errno_error("cannot be read").what());
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw unusable(file, errno_error("cannot be read").what());
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw unusable(file, "others may read it; expected mode 0600: chmod 600 " + file.native());
  }
  std::string text(Credentials::kMaxSecretBytes + 2, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unusable(file, errno_error("cannot be read").what());
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Credentials::Credentials(std::string secret, std::string node)
    : secret_(std::move(secret)), node_(std::move(node)) {
  if (secret_.size() < kMinSecretBytes || secret_.size() > kMaxSecretBytes) {
    throw bad_argument("the run's secret has " + std::to_string(secret_.size()) +
                       " bytes; expected " + std::to_string(kMinSecretBytes) + " to " +
                       std::to_string(kMaxSecretBytes));
  }
  if (node_.size() > kMaxNodeBytes) node_.erase(0, node_.size() - kMaxNodeBytes);
}

Credentials Credentials::from_file(const std::filesystem::path& secret_file,
                                   const std::filesystem::path& run_directory,
                                   const std::string& name) {
  const char* host = std::getenv("TURNTABLE_HOST");
  const std::string node =
      std::string(host == nullptr ? "" : host) + ":" + (run_directory / name).native();
  return {read_secret(secret_file), node};
}

Identity Credentials::next() const {
  static const std::array<std::uint8_t, 16> boot = boot_of_this_machine();
  static const std::uint64_t started_ns = boottime_ns();
  static std::atomic<std::uint32_t> connections{0};
  return {.node = node_,
          .incarnation = {.boot = boot, .started_ns = started_ns, .connection = ++connections}};
}

}  // namespace turntable::net
