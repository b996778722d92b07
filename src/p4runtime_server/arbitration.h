// Who may write (P4Runtime 1.4, "Client Arbitration"): of the clients of a role, the one whose
// election id is the highest that the role has ever had. Apart from gRPC.
//
//     no primary ── election id >= the highest ever ──> primary
//         ^                                               │
//         └── its stream ends, or it lowers its id ───────┘
//
// When a primary goes, no backup takes its place by itself: one has to ask with an id that is at
// least the highest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {

using StreamId = std::uint64_t;  // of one StreamChannel; never used again

inline constexpr std::uint64_t kDeviceId = 1;            // a server has one device
inline constexpr std::size_t kMostClients = 64;          // of all roles
inline constexpr std::size_t kMostRoles = 64;            // that there ever were
inline constexpr std::size_t kMostRoleBytes = 64 << 10;  // of a role's name and configuration

// Not thread-safe.
class Arbitration {
 public:
  using Update = p4::v1::MasterArbitrationUpdate;
  // What is sent to a stream.
  struct Notice {
    StreamId stream;
    Update update;
  };

  // What a client asks on its stream, and who is to hear of it. Throws Refusal, with which the
  // stream ends: NOT_FOUND another device, INVALID_ARGUMENT an election id that another client of
  // the role has, FAILED_PRECONDITION another role than before, RESOURCE_EXHAUSTED.
  std::vector<Notice> update(StreamId stream, const Update& asked);

  // The stream has ended.
  std::vector<Notice> leave(StreamId stream);

  // Throws Refusal: NOT_FOUND a role that no client has, PERMISSION_DENIED where the role's primary
  // has another election id, or there is none.
  void check_primary(const std::string& role, const p4::v1::Uint128& election_id) const;

  bool is_primary(StreamId stream) const;
  // Of all roles.
  std::vector<StreamId> primaries() const;
  std::size_t clients() const { return clients_.size(); }

 private:
  // high, low
  using ElectionId = std::pair<std::uint64_t, std::uint64_t>;

  struct Client {
    std::string role;
    std::optional<ElectionId> election_id;
  };
  struct Role {
    std::optional<ElectionId> highest;  // ever
    std::optional<StreamId> primary;
    std::optional<google::protobuf::Any> config;  // the primary's
  };

  void check(StreamId stream, const Update& asked) const;
  Notice notice(StreamId stream, const Client& client) const;
  std::vector<Notice> notices(const std::string& role) const;

  std::map<StreamId, Client> clients_;
  std::map<std::string, Role> roles_;  // stay: the highest id is remembered
};

}  // namespace turntable::p4runtime_server
