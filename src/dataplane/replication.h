// Which copies of a packet go to the queues of ports: its unicast copy, those of multicast groups,
// that for the CPU, and mirrored ones. Configured by the switch's fixed tables. Every switch that
// runs programs asks here; what it does with the bytes is its own business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dataplane/fixed_tables.h"
#include "dataplane/port_numbers.h"
#include "dataplane/program.h"

namespace turntable::dataplane {

// A port has eight queues. Of a qid's five bits the lower three say which of them serves a packet;
// egress_qid is that queue's number.
inline constexpr std::size_t kQueues = 8;

constexpr std::uint8_t queue_of(std::uint8_t qid) {
  return qid % kQueues;
}

class Replication {
 public:
  struct Copy {
    std::uint16_t port;
    std::uint16_t rid;
    std::uint8_t qid;
    bool bypass_egress;
    bool is_first_of_rid = false;  // among the copies of one multicast group
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

  // False: at most the unicast copy is wanted, and there is no need to ask for copies_of.
  static bool is_wanted(const Packet& packet) {
    return (packet.mcast_grp_a | packet.mcast_grp_b) != 0 || packet.copy_to_cpu;
  }

  // What leaves for a packet after ingress: unicast, group a, group b, CPU, as far as drop_ctl
  // allows. Into `copies`, which is cleared first and keeps its memory; so does the next one.
  void copies_of(const Packet& packet, std::vector<Copy>& copies) const;

  // Where a mirror copy goes. Returns its session, or nullptr (and no copies) where none is enabled
  // for this direction.
  const Session* mirror_copies(const MirrorCopy& mirror, bool from_ingress,
                               std::vector<Copy>& copies) const;

 private:
  struct Member {
    std::uint16_t port;
    std::uint16_t rid;
    bool has_exclusion;
    std::uint16_t exclusion_id;
  };
  static constexpr std::uint16_t kNoPort = 0xFFFF;

  void add_group(std::uint16_t group, const Packet& packet, std::vector<Copy>& copies) const;
  bool copies_to_cpu() const { return cpu_port_ != kNoPort; }
  bool pruned(const Member& member, const Packet& packet) const;

  std::unordered_map<std::uint16_t, std::vector<Member>> groups_;
  std::unordered_map<std::uint16_t, std::unordered_set<std::uint16_t>> pruned_ports_;
  std::unordered_map<std::uint16_t, Session> sessions_;
  std::uint16_t cpu_port_ = kNoPort;
  std::uint16_t global_rid_ = 0;  // as an SDE begins
};

// Writes a mirror copy into `buffer` (kMaxFrame bytes); `frame` is what ingress or egress left.
// Returns its length, at most `max_length`.
std::uint32_t write_mirror_copy(const MirrorCopy& copy, const Packet& frame,
                                std::uint32_t max_length, std::uint8_t* buffer);

}  // namespace turntable::dataplane
