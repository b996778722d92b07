// An XDP program at an interface, which redirects frames to AF_XDP sockets of a map. It is held by
// a link that ends with the process, however that ends.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "net/network_interface.h"

namespace turntable::net {

inline bpf_insn bpf(int code, int destination = 0, int source = 0, std::size_t offset = 0,
                    std::int64_t value = 0) {
  bpf_insn instruction{};
  instruction.code = static_cast<std::uint8_t>(code);
  instruction.dst_reg = destination & 0xF;
  instruction.src_reg = source & 0xF;
  instruction.off = static_cast<std::int16_t>(offset);
  instruction.imm = static_cast<std::int32_t>(value);
  return instruction;
}

// A map with room for sockets of the keys 0 .. size - 1. Needs CAP_BPF. Throws errno_error.
UniqueFd create_socket_map(const std::string& interface, std::uint32_t size);

class XdpProgram {
 public:
  // Throws errno_error that names the interface.
  XdpProgram(const std::string& interface, const NetworkInterface& link,
             std::span<const bpf_insn> code);

 private:
  UniqueFd program_;
  UniqueFd attachment_;  // last: it is gone before the program
};

}  // namespace turntable::net
