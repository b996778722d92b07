#include "net/xdp_memory.h"

#include <sys/mman.h>

#include "common/errno_error.h"

namespace turntable::net {

void expect_xdp(const std::string& interface, int result, const char* what) {
  if (result < 0) throw errno_error("interface " + interface + ": " + what, -result);
}

XdpMemory::XdpMemory(const std::string& interface, const Chunks& chunks)
    : chunks_(chunks), memory_bytes_(std::size_t{chunks.receive + chunks.send} * chunks.bytes) {
  void* const memory =
      ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw errno_error("cannot map memory for AF_XDP");
  memory_ = static_cast<std::uint8_t*>(memory);
  const xsk_umem_config config{.fill_size = chunks.receive,
                               .comp_size = chunks.send,
                               .frame_size = chunks.bytes,
                               .frame_headroom = 0,
                               .flags = 0};
  const int result =
      ::xsk_umem__create(&umem_, memory_, memory_bytes_, &fill_, &completion_, &config);
  if (result < 0) ::munmap(memory_, memory_bytes_);
  expect_xdp(interface, result, "cannot register memory for AF_XDP");
  for (std::uint64_t i = 0; i < chunks.receive; ++i) fill(i * chunks.bytes);
  filled();
}

XdpMemory::~XdpMemory() {
  ::xsk_umem__delete(umem_);
  ::munmap(memory_, memory_bytes_);
}

}  // namespace turntable::net
