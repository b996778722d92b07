// Memory of the kernel's, in huge pages where it has them: what is looked up at random in more than
// a few megabytes else waits for page tables most of the time, in a virtual machine above all.
#pragma once

#include <cstddef>
#include <string>

namespace turntable::hybridlog {

// Zeros, which cost addresses only until they are touched.
class MappedMemory {
 public:
  // what: for the message. Throws std::system_error.
  MappedMemory(std::size_t bytes, const std::string& what);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

}  // namespace turntable::hybridlog
