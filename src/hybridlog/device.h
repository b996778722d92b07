// Where pages go that no longer fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>

namespace turntable::hybridlog {

// Offsets, sizes and buffers are multiples of kSectorBytes. Thread-safe.
class Device {
 public:
  static constexpr std::size_t kSectorBytes = 4096;

  virtual ~Device() = default;

  // Both block until all bytes are there.
  virtual std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) = 0;
  virtual std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) = 0;
  // What was written before survives a crash of the machine.
  virtual std::error_code sync() = 0;
  // Nobody needs these bytes any more: they take no space, and may be read as zeros. An error: they
  // still take it.
  virtual std::error_code discard(std::uint64_t /*offset*/, std::uint64_t /*size*/) {
    return std::make_error_code(std::errc::operation_not_supported);
  }

  // For reads past this interface, which are counted with count_read(). Negative: it is no file.
  virtual int file() const noexcept { return -1; }
  virtual void count_read(std::size_t /*bytes*/) noexcept {}

  struct Traffic {
    std::uint64_t reads = 0, read_bytes = 0, written_bytes = 0;
  };
  virtual Traffic traffic() const noexcept { return {}; }
  // Past the page cache.
  virtual bool is_direct() const noexcept { return false; }
};

// A file without the page cache, where its file system can do that: otherwise what is measured is
// memory. Throws std::system_error.
std::unique_ptr<Device> open_file(const std::string& path);

}  // namespace turntable::hybridlog
