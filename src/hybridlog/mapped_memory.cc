#include "hybridlog/mapped_memory.h"

#include <sys/mman.h>

#include "common/errno_error.h"

namespace turntable::hybridlog {
namespace {

std::byte* map(std::size_t bytes, const std::string& what) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw errno_error("cannot map " + std::to_string(bytes) + " bytes for " + what);
  ::madvise(memory, bytes, MADV_HUGEPAGE);  // without them slower, no more
  return static_cast<std::byte*>(memory);
}

}  // namespace

MappedMemory::MappedMemory(std::size_t bytes, const std::string& what)
    : bytes_(bytes), data_(map(bytes, what)) {}

MappedMemory::~MappedMemory() {
  ::munmap(data_, bytes_);
}

}  // namespace turntable::hybridlog
