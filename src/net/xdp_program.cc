#include "net/xdp_program.h"

#include <bpf/bpf.h>
#include <linux/if_link.h>

#include "net/xdp_memory.h"

namespace turntable::net {

UniqueFd create_socket_map(const std::string& interface, std::uint32_t size) {
  UniqueFd map(::bpf_map_create(BPF_MAP_TYPE_XSKMAP, "turntable_xsk", sizeof(std::uint32_t),
                                sizeof(std::uint32_t), size, nullptr));
  expect_xdp(interface, map.get(), "cannot create a BPF map (it needs CAP_BPF)");
  return map;
}

XdpProgram::XdpProgram(const std::string& interface, const NetworkInterface& link,
                       std::span<const bpf_insn> code) {
  program_.reset(::bpf_prog_load(BPF_PROG_TYPE_XDP, "turntable_port", "Apache-2.0", code.data(),
                                 code.size(), nullptr));
  expect_xdp(interface, program_.get(), "cannot load the XDP program");
  attachment_.reset(::bpf_link_create(program_.get(), link.index(), BPF_XDP, nullptr));
  expect_xdp(interface, attachment_.get(),
             "cannot attach an XDP program (is there one already? `ip link` shows it; is the MTU "
             "of the other end above 3,500?)");
}

}  // namespace turntable::net
