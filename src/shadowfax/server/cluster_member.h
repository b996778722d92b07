// A server's part in a cluster: it learns from the metadata service what it owns, gives ranges to
// other servers and receives them. It is begun last, and ended first.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "hybridlog/compaction.h"
#include "messages/listener.h"
#include "net/credentials.h"
#include "net/event_loop.h"
#include "shadowfax/cluster/asking.h"
#include "shadowfax/cluster/secret.h"
#include "shadowfax/server/arrival.h"
#include "shadowfax/server/departure.h"
#include "shadowfax/server/given_log.h"
#include "shadowfax/server/peer_limits.h"
#include "shadowfax/server/range_check.h"
#include "shadowfax/server/resolver.h"
#include "shadowfax/server/source_logs.h"
#include "shadowfax/server/task_thread.h"

namespace turntable::shadowfax {

// Of batches whose view is newer than the server's: somebody looks at the metadata service then.
class NewerViews {
 public:
  void seen() noexcept {
    count_.fetch_add(1);
    count_.notify_all();
  }
  // Until more than `known` were seen; returns how many.
  std::uint64_t wait(std::uint64_t known) const noexcept {
    count_.wait(known);
    return count_.load();
  }

 private:
  std::atomic<std::uint64_t> count_{0};
};

struct ClusterSettings {
  ServerNumber number = 0;
  sockaddr_in metadata{};
  std::uint16_t peer_port = 0;  // 0: any that is free
  CredentialsFor credentials{};
  std::chrono::nanoseconds gone_time = kGoneTime;                      // another one for tests
  std::function<void(const char* step)> at_step = [](const char*) {};  // for tests
};

class ClusterMember {
 public:
  // Waits until the metadata service has answered, or `stop`; from then on batches are served.
  // address, ports: of the workers. logs: reads for the store what it points to. ranges: is told
  // what is owned. Throws NoAnswer, std::runtime_error.
  ClusterMember(const ClusterSettings& settings, const std::string& address,
                const std::vector<std::uint16_t>& ports, hybridlog::Store& store,
                Checkpointer& checkpointer, CompactionGate& gate, Serving& serving,
                NewerViews& newer_views, SourceLogs& logs, RangeCheck* ranges = nullptr);
  ~ClusterMember();
  ClusterMember(const ClusterMember&) = delete;
  ClusterMember& operator=(const ClusterMember&) = delete;

  using Json = nlohmann::json;
  // Of a migration: {"id"} once it has begun, or {"refused": why}, also when the server ends
  // before.
  using Begun = std::future<Json>;
  // Waits for it; the member may have ended. Throws Refusal; NoAnswer at the deadline.
  static std::uint64_t id_when_begun(Begun begun, Deadline deadline);

  std::uint16_t peer_port() const noexcept { return peer_port_; }
  ServerNumber number() const noexcept { return settings_.number; }

  // Gives another server a share of this one's first range (View::share_of), of which hot keys are
  // sought for so long before, with indirections or without (Departure::Order). Throws Refusal;
  // NoAnswer of the metadata service.
  Begun begin_to_migrate(ServerNumber to, double share, double sample_s, bool indirection);
  std::uint64_t migrate(ServerNumber to, double share, double sample_s, bool indirection,
                        Deadline deadline) {
    return id_when_begun(begin_to_migrate(to, share, sample_s, indirection), deadline);
  }
  // Pulls what this server points to in logs of others. Throws NoAnswer at the deadline.
  void resolve(Deadline deadline);
  // What it does: {"number", "view", "receives", "records", "departure", "fetched": keys' records
  // from logs of others, "resolver"}.
  Json status();
  // All "departure"s (Departure::all).
  Json departures() const { return departure_->all(); }
  // As the metadata service says now. Throws NoAnswer.
  ClusterState look();
  // The view that this server serves, whatever the metadata service says.
  View served();

  // How the log is compacted now: what other servers own goes. Nothing while a range arrives or
  // leaves, or others point into the log: these are asked to pull what they need. Throws NoAnswer.
  std::optional<hybridlog::CompactionSettings> compaction();

 private:
  using SessionId = messages::SessionListener::SessionId;

  void enrol(const std::string& address, const std::vector<std::uint16_t>& ports);
  ClusterState enrolled(Json member);
  void adopt(const ClusterState& state);
  void end_cut(const ClusterState* owned);
  void serve(const ClusterState& state);  // with the mutex
  void follow();
  void received(SessionId session, const ClusterMessage& message);
  Json answer(const ClusterMessage& message);
  Json prepare();
  void require_may_receive() const;
  Json stage(std::uint64_t id, const ClusterMessage& message);
  Json take(std::uint64_t id, const ClusterMessage& message);
  Json finish(std::uint64_t id, const Json& args);
  void tell_complete(std::uint64_t id, const Json& complete);
  void ask_to_resolve(const ClusterState& state, ServerNumber target);
  bool receives(std::uint64_t id);
  void migrate(SessionId session, const ClusterMessage& message);
  std::unique_ptr<Asking> connect(ServerNumber to, const Member& at, const std::string& what = "");
  bool is_at(ServerNumber server, const Member& at, const std::stop_token& stop);
  std::unique_ptr<Asking> connect_now(ServerNumber to, const std::string& what);
  std::unique_ptr<Asking> connect_to_pull(const Unresolved& what);

  const ClusterSettings settings_;
  const std::string incarnation_;  // of this process, drawn at random
  hybridlog::Store& store_;
  Serving& serving_;
  NewerViews& newer_views_;
  SourceLogs& logs_;
  RangeCheck* const ranges_;
  Asking metadata_;
  std::mutex mutex_;  // of what is served, and the arrival
  std::optional<View> served_;
  bool cuts_ = false;
  Arrival arrival_;
  std::optional<Departure> departure_;
  std::optional<Resolver> resolver_;
  PulledLog pulled_;  // of the thread of answers
  net::EventLoop loop_;
  messages::Listener<ClusterMessage> listener_;
  const std::uint16_t peer_port_;
  std::stop_source ends_;
  std::thread loop_thread_, follower_;
  // That answer: what others are waited for, what only the device is, and what the metadata service
  // is.
  std::optional<TaskThread> answers_, fetches_, finishes_;
};

}  // namespace turntable::shadowfax
