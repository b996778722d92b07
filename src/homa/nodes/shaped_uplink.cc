#include "homa/nodes/shaped_uplink.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/command_error.h"
#include "common/errno_error.h"
#include "net/ipv4.h"
#include "net/network_interface.h"
#include "node/process.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr const char* kHandle = "7474:";  // ours, so that nothing else is removed
constexpr std::uint32_t kEthernetBytes = 14;
constexpr std::uint32_t kFullFramesAtOnce = 2;
constexpr std::uint32_t kQueueBytes = 2'000'000;

bool is_loopback(const sockaddr_in& address) {
  return ntohl(address.sin_addr.s_addr) >> 24U == IN_LOOPBACKNET;
}

std::string text_of(const Words& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string contents_of(int file) {
  std::string text;
  std::array<char, 4096> part;
  for (off_t at = 0;; at = static_cast<off_t>(text.size())) {
    const ssize_t got = ::pread(file, part.data(), part.size(), at);
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// What a program of iproute2 says. Throws CommandError with that if it fails.
std::string output_of(const Words& command) {
  const UniqueFd output(::memfd_create("output", MFD_CLOEXEC));
  if (!output) throw errno_error("cannot create a memfd");
  int status = 0;
  try {
    node::ProcessSpec program;
    program.argv = command;
    program.log_file = "/proc/self/fd/" + std::to_string(output.get());
    const auto process = node::start_process(program);
    if (::waitpid(process.pid, &status, 0) != process.pid) throw errno_error("cannot wait for it");
  } catch (const std::system_error& error) {
    throw CommandError("unavailable", "`" + text_of(command) + "`: " + error.what() +
                                          "; a link of TCP (link_bps) needs iproute2");
  }
  std::string text = contents_of(output.get());
  if (status == 0) return text;
  throw CommandError("unavailable", "`" + text_of(command) + "` failed: " + text +
                                        "; a link of TCP (link_bps) needs root and the kernel's "
                                        "sch_tbf");
}

// None: another node has it.
UniqueFd claim(const std::string& interface) {
  return net::NetworkInterface(interface).claim("uplink");
}

// Hosts without iproute2 have been shaped by nobody.
bool has_tc() {
  try {
    output_of({"tc", "-V"});
    return true;
  } catch (const CommandError&) {
    return false;
  }
}

// Of the interface's root; the kernel's own has 0.
std::string handle_at(const std::string& interface) {
  const Json qdiscs =
      Json::parse(output_of({"tc", "-j", "qdisc", "show", "dev", interface, "root"}));
  return qdiscs.empty() ? "0:" : qdiscs.front().value("handle", "0:");
}

// The qdisc last: by it the next node knows that something was left.
void unshape(const std::string& interface) {
  const Json links = Json::parse(output_of({"ip", "-j", "-d", "link", "show", "dev", interface}));
  if (const auto most = links.at(0).find("tso_max_segs"); most != links.at(0).end())
    output_of({"ip", "link", "set", "dev", interface, "gso_max_segs", most->dump()});
  output_of({"tc", "qdisc", "del", "dev", interface, "root"});
}

}  // namespace

ShapedUplink::ShapedUplink(const sockaddr_in& local, const Link& link) {
  if (link.bits_per_s == 0 || is_loopback(local)) return;
  const std::string interface = net::interface_with(local);
  if (interface.empty()) {
    throw bad_argument("link_bps: no interface has " + net::text_of(local) +
                       "; expected an address of this host, whose link is to be shaped");
  }
  claim_ = claim(interface);
  if (!claim_) {
    throw CommandError("unavailable", "link_bps: another node shapes " + interface +
                                          "; expected one node with TCP at an interface. Stop the "
                                          "other one, or give each an interface");
  }
  if (const std::string handle = handle_at(interface); handle != "0:" && handle != kHandle) {
    throw CommandError("unavailable", "link_bps: " + interface + " has the queueing discipline " +
                                          handle +
                                          " of somebody else; expected none. `tc qdisc "
                                          "del dev " +
                                          interface + " root` removes it");
  }
  interface_ = interface;
  shape(link);
}

void ShapedUplink::shape(const Link& link) const {
  const std::uint32_t frame_bytes =
      net::NetworkInterface(interface_).mtu() + kEthernetBytes + link.overhead_bytes;
  output_of({"tc",
             "qdisc",
             "replace",
             "dev",
             interface_,
             "root",
             "handle",
             kHandle,
             "stab",
             "overhead",
             std::to_string(link.overhead_bytes),
             "linklayer",
             "ethernet",
             "tbf",
             "rate",
             std::to_string(link.bits_per_s) + "bit",
             "burst",
             std::to_string(kFullFramesAtOnce * frame_bytes),
             "limit",
             std::to_string(kQueueBytes)});
  output_of({"ip", "link", "set", "dev", interface_, "gso_max_segs", "1"});
}

ShapedUplink::~ShapedUplink() {
  if (interface_.empty()) return;
  try {
    unshape(interface_);
  } catch (const std::exception&) {
    // The interface has gone, or the next `prepare` removes it.
  }
}

void remove_leftover_shaping(const sockaddr_in& local) {
  if (is_loopback(local)) return;
  const std::string interface = net::interface_with(local);
  if (interface.empty()) return;
  // Whoever holds the claim lives, and needs it.
  const UniqueFd mine = claim(interface);
  if (mine && has_tc() && handle_at(interface) == kHandle) unshape(interface);
}

}  // namespace turntable::homa
