// Takes snapshots of switch and servers (docs/kvcache.md §8): leads agent and servers through one,
// keeps it on disk, and tells clients and servers what they need keep no more.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "farreach/cache/client_sessions.h"
#include "farreach/cache/links.h"
#include "farreach/cache/server_sessions.h"
#include "farreach/cache/snapshot_file.h"
#include "farreach/cache/switch_epoch.h"
#include "net/task.h"

namespace turntable::cache {

class Snapshots {
 public:
  using Json = nlohmann::json;

  struct Parts {
    net::EventLoop& loop;
    MessageLink& agent;
    ServerSessions& servers;
    ClientSessions& clients;
    SnapshotDirectory& directory;
    std::function<void(net::Task<void>)> spawn;
    std::function<SwitchEpoch()> epoch;     // as the agent has said
    std::function<std::string()> obstacle;  // why nobody may take one now; empty: nothing
  };
  explicit Snapshots(Parts parts) : parts_(std::move(parts)) {}
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  // One now -> what stats() says of it. Throws CommandError when it had to be given up, and
  // "wrong_state" while one is under way, or the switch is EMPTY or about to change its contents.
  net::Task<Json> take();

  // At from_ns (of the loop's clock) + period, + 2 periods and so on; an instant at which one is
  // under way passes without another. 0: none unless asked for.
  void set_period(std::int64_t period_ns, std::int64_t from_ns);
  std::int64_t period_ns() const { return period_ns_; }

  // {"period_s", "taken", "failed", "refused", ["under_way"], ["last_failure"], ["last_snapshot"],
  // "complete": [{"id", "began_at_ns", "ended_at_ns", "sent_bytes", "received_bytes"}]}:
  // CLOCK_REALTIME, of those since set_period() the last kComplete
  Json stats() const;

 private:
  using Ask = std::function<void(Message, Unanswered::OnAnswer)>;
  using Servers = std::map<unsigned, ServerSessions::SessionId>;  // by partition
  struct Run {
    std::uint32_t id = 0;
    std::uint32_t epoch = 0;
    Servers servers;  // when it began
    std::set<ClientSessions::SessionId> confirmed{};
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
    std::int64_t phase_began_ns = 0;
    Json phases = Json::object();
  };

  net::Task<Json> take_one(std::uint32_t id);
  net::Task<Message> ask_agent(Run& run, MessageType type);
  net::Task<void> start_servers(Run& run);
  void release_copies(Run& run, const std::vector<Record>& records);
  void release_servers(Run& run);
  net::Task<std::vector<Message>> ask_all(Run& run, std::vector<Ask> asks, Message question);
  void probe(const Run& run, const std::weak_ptr<char>& alive,
             net::Completion<std::string>& settled, std::int64_t deadline_ns);
  std::string trouble(const Run& run) const;
  void require_permission();
  [[noreturn]] void give_up(std::uint32_t id, std::uint32_t epoch, const std::string& why);
  void end_phase(Run& run, const char* name);

  net::Task<void> take_in_turn();
  void schedule();

  const Parts parts_;
  std::int64_t period_ns_ = 0;
  std::int64_t period_from_ns_ = 0;
  net::Timers::TimerId next_ = 0;
  std::uint32_t under_way_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t refused_ = 0;  // not begun
  std::string last_failure_;
  Json last_snapshot_;
  std::deque<Json> complete_;
  std::uint32_t last_list_ = 0;  // id of the last RELEASE_COPIES
  std::map<ClientSessions::SessionId, std::uint32_t> answered_lists_;  // the last of each client
  const std::shared_ptr<char> alive_ = std::make_shared<char>();       // for answers that come late
};

}  // namespace turntable::cache
