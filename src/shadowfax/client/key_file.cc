#include "shadowfax/client/key_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <stdexcept>

#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable::shadowfax {

KeyFile::KeyFile(const std::string& path, std::optional<std::uint64_t> expected) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) throw errno_error("cannot open " + path);
  const auto bytes = static_cast<std::uint64_t>(found.st_size);
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error(path + " has " + std::to_string(bytes) + " bytes; expected " + what);
  };
  if (!S_ISREG(found.st_mode)) throw std::runtime_error(path + " is no file of keys");
  if (expected && bytes != *expected * sizeof(std::uint64_t)) {
    refuse(std::to_string(*expected * sizeof(std::uint64_t)) + ": 8 for each of " +
           std::to_string(*expected) + " keys");
  }
  if (bytes == 0 || bytes % sizeof(std::uint64_t) != 0)
    refuse("8 for each key, and at least one key (process_ycsb makes such files)");
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) throw errno_error("cannot read " + path);
  keys_ = {static_cast<const std::uint64_t*>(memory), bytes / sizeof(std::uint64_t)};
}

KeyFile::~KeyFile() {
  ::munmap(const_cast<std::uint64_t*>(keys_.data()), keys_.size_bytes());
}

}  // namespace turntable::shadowfax
