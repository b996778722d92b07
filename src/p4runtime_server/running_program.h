// The program that softswitch runs now, and what this server remembers of its entries for clients.
// When softswitch ends all of that ends with it.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "bfrt_server/switch_link.h"
#include "p4runtime_server/action_sets.h"
#include "p4runtime_server/digest_lists.h"
#include "p4runtime_server/group_members.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

struct SwitchAddress {
  std::filesystem::path directory;  // of its control socket
  std::string name = "softswitch";
};

// What a client wrote beside an entry, for itself.
struct EntryNotes {
  std::string metadata;
  std::uint64_t controller_metadata = 0;
  bool says_egress_port = false;  // of replicas: they have this field, not the newer `port`
  std::int64_t idle_timeout_ns = 0;

  bool empty() const {
    return metadata.empty() && controller_metadata == 0 && !says_egress_port &&
           idle_timeout_ns == 0;
  }
};

// Metadata and idle time-out.
void put_notes(const EntryNotes& notes, p4::v1::TableEntry& entry);

using GroupName = std::pair<std::string, std::uint32_t>;

// Thread-safe, but for what says otherwise.
class RunningProgram {
 public:
  // Throws CommandError where softswitch does not answer, std::runtime_error where its P4Info is
  // not understood.
  explicit RunningProgram(const SwitchAddress& address);

  const std::string& name() const { return facts_.name; }
  std::uint64_t number() const { return facts_.number; }
  const ProgramInfo& info() const { return info_; }
  // Of its library as softswitch loaded it: SHA-256 in hexadecimal.
  const std::string& library_hash() const { return facts_.library_sha256; }
  bfrt_server::SwitchLink& link() { return link_; }

  // `entry`: what names it, in one text; of a table's: table, key and priority.
  void note(const std::string& entry, EntryNotes notes);
  void forget(const std::string& entry) { note(entry, {}); }
  void forget_all();
  // What clients wrote beside entities of the program before, which softswitch has kept: notes,
  // sets of actions, watched ports, digests. That one then has nothing of it. As for writing.
  void take_over(RunningProgram& before);
  EntryNotes notes(const std::string& entry) const;
  // Ids of tables of which an entry has one.
  std::set<std::uint32_t> tables_with_idle_timeouts() const;
  // The shortest idle time-out that an entry has. Nothing: none has one.
  std::optional<std::int64_t> shortest_idle_timeout_ns() const;

  // Sets of actions, and groups of which a member may watch a port. Only for whom ClientStreams
  // lets write or read alone. Throws CommandError the first time, where softswitch does not answer.
  ActionSets& one_shots();
  // By selector, as softswitch names it, and number. Only those are kept of which a member watches
  // a port.
  void watch(const GroupName& name, WatchedGroup group);
  WatchedGroup watched(const GroupName& name) const;
  const std::map<GroupName, WatchedGroup>& watched() const { return watched_; }

  DigestLists& digests() { return digests_; }
  const DigestLists& digests() const { return digests_; }

  // The configuration that a client has set; nothing: the program was there before.
  void set_cookie(std::optional<std::uint64_t> cookie);
  std::optional<std::uint64_t> cookie() const;
  // That the program was sent as. Empty: it was not, or before this server was started.
  void set_source(std::string source);
  std::string source() const;

 private:
  bfrt_server::SwitchLink link_;
  bfrt_server::ProgramFacts facts_;
  ProgramInfo info_;
  mutable std::mutex mutex_;
  std::map<std::string, EntryNotes> notes_;
  std::multiset<std::int64_t> idle_timeouts_;  // of notes_
  std::optional<ActionSets> one_shots_;
  std::map<GroupName, WatchedGroup> watched_;
  DigestLists digests_;
  std::optional<std::uint64_t> cookie_;
  std::string source_;
};

}  // namespace turntable::p4runtime_server
