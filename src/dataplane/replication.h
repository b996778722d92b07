// Which copies of a packet leave ingress, besides its unicast copy: multicast groups, copies to the
// CPU, and mirror sessions. Configured by the switch's fixed tables.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dataplane/fixed_tables.h"
#include "dataplane/program.h"

namespace turntable::dataplane {

class Replication {
 public:
  struct Copy {
    std::uint16_t port;
    std::uint16_t rid;
  };
  struct Session {
    bool ingress = false;  // copies from ingress
    bool egress = false;
    bool has_port = false;
    std::uint16_t port = 0;
    std::uint8_t qid = 0;
    std::uint16_t groups[2] = {0, 0};  // multicast groups; 0: none
    std::uint16_t rid = 0;
    std::uint32_t max_length = 0;  // bytes; a longer copy is cut
  };

  // Takes over what the fixed tables say. Throws CommandError if it does not hold together.
  void configure(const FixedTables::State& tables);

  // The copies of the groups of a packet after ingress, into `copies` (cleared first; it keeps its
  // memory). Drop_ctl is the caller's business.
  void multicast(const Packet& packet, std::vector<Copy>& copies) const;

  // The enabled session of a mirror copy, or nullptr.
  const Session* session(std::uint16_t id) const;
  bool copies_to_cpu() const { return cpu_port_ != kNoPort; }
  std::uint16_t cpu_port() const { return cpu_port_; }

 private:
  struct Member {
    Copy copy;
    bool has_exclusion;
    std::uint16_t exclusion_id;
  };
  static constexpr std::uint16_t kNoPort = 0xFFFF;

  void add_group(std::uint16_t group, const Packet& packet, std::vector<Copy>& copies) const;
  bool pruned(const Member& member, const Packet& packet) const;

  std::unordered_map<std::uint16_t, std::vector<Member>> groups_;
  std::unordered_map<std::uint16_t, std::unordered_set<std::uint16_t>> pruned_ports_;
  std::unordered_map<std::uint16_t, Session> sessions_;
  std::uint16_t cpu_port_ = kNoPort;
};

// Writes a mirror copy into `buffer` (kMaxFrame bytes); `frame` is what ingress or egress left.
// Returns its length, at most `max_length`.
std::uint32_t write_mirror_copy(const MirrorCopy& copy, const Packet& frame,
                                std::uint32_t max_length, std::uint8_t* buffer);

}  // namespace turntable::dataplane
