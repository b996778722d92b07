// What the metadata service knows: servers, the view, and the migration that is under way. Every
// change is one function, which refuses what does not fit; the service writes the whole to its file
// before it answers.
//
//   begin --> [kPrepared] --own--> [kOwned] --complete--> nothing under way
//                  |                          or, of one with indirections, --> [unresolved]
//                cancel --> nothing under way: the range stays the source's        |
//                                                                  resolved --> nothing
//
// Of what is unresolved the target points into the source's log (docs/shadowfax-design.md §3).
// There may be several of these, of different ranges, beside what is under way.
//
// `own` is the ownership cut: before it the source owns the range, after it the target. It makes
// the next view. Each may be asked again by who has not heard the answer: it changes nothing then.
//
// A question may also come late, when who asked has died or has given it up. So a migration's id is
// the asker's, the next one that it knows of, and is used once: a MIGRATE or BEGIN that comes after
// the end of its migration begins nothing. A server that is there again has cancelled what it had
// prepared. Each of its processes has an incarnation, which it enrols and says with every change
// that it asks for: what an earlier one asked for is refused, whenever it comes. So is an ENROL of
// an earlier one: it says which incarnation it replaces, and that is noted no more.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hybridlog/address.h"
#include "shadowfax/cluster/view.h"

namespace turntable::shadowfax {

// What was asked for does not fit to what is: nothing was changed.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Member {
  std::string address;               // IPv4
  std::vector<std::uint16_t> ports;  // of its workers
  std::uint16_t peer_port = 0;       // where other servers reach it
  // Of its process, drawn at random; empty: of a time when servers had none.
  std::string incarnation{};

  bool operator==(const Member&) const = default;
};

// A process that asks for a change, as the server that it is.
struct Asker {
  ServerNumber server = 0;
  std::string incarnation;
};

struct Migration {
  enum class Phase : std::uint8_t { kPrepared, kOwned };

  std::uint64_t id = 0;  // from 1, counted
  hybridlog::HashRange range;
  ServerNumber source = 0, target = 0;
  // Of the target's log: what it had of the range before lies below.
  hybridlog::Address receives_from = 0;
  Phase phase = Phase::kPrepared;
  bool indirection = false;  // of what its device has the source sends where it is

  bool operator==(const Migration&) const = default;
};

// Of the source's log: where it began, and below which address lies what was not sent.
struct SourceLog {
  hybridlog::Address begin = 0, until = 0;

  bool operator==(const SourceLog&) const = default;
};

// What of a migration's range the target points to instead of having it.
struct Unresolved {
  std::uint64_t id = 0;  // the migration's
  hybridlog::HashRange range;
  ServerNumber source = 0, target = 0;
  hybridlog::Address receives_from = 0;  // the migration's
  SourceLog log;

  bool operator==(const Unresolved&) const = default;
};

struct ClusterState {
  View view = View::equal(1);
  std::map<ServerNumber, Member> members;
  std::optional<Migration> migration;
  std::vector<Unresolved> unresolved;  // ascending ids
  std::uint64_t last_migration = 0;    // the id

  // A server is there, perhaps again, and at other ports. What it had prepared is cancelled. One
  // that is enrolled already: nothing changes. replaces: the incarnation that is noted of the
  // server; empty: none. Throws Refusal where another one is.
  void enrol(ServerNumber server, Member member, const std::string& replaces);
  // Of a server; empty: none is noted.
  std::string incarnation_of(ServerNumber server) const;

  // All that follow throw Refusal where the incarnation is not the one that is noted of the server
  // whose question it is, and would change something.

  // Of the source. migration: its id is next_id(). One that is prepared already, and the same:
  // nothing changes. Throws Refusal where the id was used, another one is under way, the source
  // does not own all of the range, or one of the two has never been there.
  void begin(Migration migration, const std::string& incarnation);
  std::uint64_t next_id() const noexcept { return last_migration + 1; }
  // Throws Refusal where it is not next_id().
  void require_next(std::uint64_t id) const;
  // All throw Refusal for a migration that was cancelled, or never was.
  // Of the source. Only what is prepared, or owned.
  void own(std::uint64_t id, const std::string& incarnation);
  // Of the target. Only what is owned, or complete. rest: of one with indirections, which is
  // unresolved then.
  void complete(std::uint64_t id, const std::string& incarnation,
                const std::optional<SourceLog>& rest = std::nullopt);
  // Of the target. Only what is complete, or resolved.
  void resolved(std::uint64_t id, const std::string& incarnation);
  // Only what is prepared, or cancelled; or next_id(), which nobody can begin any more then.
  // source: nothing changes where the migration is another one's; nobody: somebody at a terminal.
  void cancel(std::uint64_t id, const std::optional<Asker>& source = std::nullopt);

  // What the server points to in logs of others, of hashes of the range.
  bool has_unresolved(ServerNumber target, hybridlog::HashRange range = {}) const noexcept;

  bool operator==(const ClusterState&) const = default;

 private:
  void require_ids(std::uint64_t id) const;
  void require_enrolled(const Asker& asker) const;
};

nlohmann::json to_json(const ClusterState& state);
// Of the arguments of a message: "begin" and "until", or nothing.
std::optional<SourceLog> rest_of(const nlohmann::json& args);

// Throws nlohmann::json::exception, std::invalid_argument.
ClusterState state_of(const nlohmann::json& json);

}  // namespace turntable::shadowfax
