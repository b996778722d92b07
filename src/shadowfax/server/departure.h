// A range of keys that this server gives to another one (docs/shadowfax-design.md §3): a thread
// that asks target and metadata service, cuts, and sends.
//
//   prepare -> prepared -> (resolving) -> (sampling) -> cut -> kept -> (sampled) -> owned -> moving
//   -> moved
//      |           |             |              |         |      |          |         -> complete
//      +-----------+-------------+--------------+---------+------+----------+--> cancelled: the
//                                                                                range stays here
//
// After `owned` it goes forward only, also after a crash: resumed -> moving.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "shadowfax/cluster/asking.h"
#include "shadowfax/server/checkpointer.h"
#include "shadowfax/server/compaction_gate.h"
#include "shadowfax/server/serving.h"
#include "shadowfax/server/task_thread.h"

namespace turntable::shadowfax {

class Departure {
 public:
  // What it needs of its server. All but the functions must outlive it; those may be called by its
  // thread.
  struct Place {
    hybridlog::Store& store;
    Checkpointer& checkpointer;
    CompactionGate& gate;  // closed while it lasts: the log is sent as it is
    Serving& serving;
    Asking& metadata;
    ServerNumber number;
    std::string incarnation;  // of the server's process
    // A connection to another server, which nobody else has.
    std::function<std::unique_ptr<Asking>(ServerNumber to, const Member& at)> connect;
    // Waits until this server points to nothing in logs of others. False: it was stopped, or who
    // has them is dead.
    std::function<bool(const std::stop_token&)> resolve;
    // From here on nobody else changes what is served ...
    std::function<void()> begin_cut;
    // ... and from here on that is what the metadata service says now; null: what it was before.
    std::function<void(const ClusterState* owned)> end_cut;
    std::chrono::nanoseconds gone_time;             // a silence, of which the target despairs
    std::function<void(const char* step)> at_step;  // for tests
  };

  explicit Departure(Place place);
  ~Departure();  // stops where it is
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;

  struct Order {
    std::uint64_t id = 0;  // of the migration: the next one, as far as is known
    hybridlog::HashRange range{};
    ServerNumber target = 0;
    // For so long hot keys of the range are sought, whose records the target has from the first
    // moment on; 0: it has nothing then.
    double sample_s = 0;
    // Of what the device has it is sent where it is, if the target's index allows that.
    bool indirection = false;

    bool operator==(const Order&) const = default;
    // However it is to be done.
    bool is_for_migration_of(const Order& other) const noexcept {
      return id == other.id && range == other.range && target == other.target;
    }
  };
  // Is told {"id"}, or {"refused": why}, and then another one may begin; by any thread.
  using OnBegun = std::function<void(const nlohmann::json&)>;
  // Who has not heard that his migration has begun may ask for it again: it is not begun once more.
  // Any thread. Throws Refusal while another one is under way, where it is asked for again and is
  // to be done in another way, and where the target is this server;
  // std::invalid_argument.
  void begin(const Order& order, const OnBegun& begun);
  // It may make checkpoints yet. They would wait for a range that arrives meanwhile, and its
  // records for them.
  bool may_cut() const noexcept { return may_cut_; }
  // Of an earlier life of this server, owned by its target: it goes on. recovered: where the log
  // that the server has recovered ends.
  void resume(const Migration& migration, hybridlog::Address recovered);

  // {"id", "step", "why" it was cancelled, and instants "<step>_ns" (CLOCK_REALTIME), "records",
  // "sampled" of them before the target owned the range, "indirections"}; null: there was none.
  nlohmann::json status() const;
  // Of all since this server began, the oldest first; of more than kMostTold the last ones.
  nlohmann::json all() const;
  static constexpr std::size_t kMostTold = 1000;

 private:
  // asks: who asks for it; nobody: it has begun before, and nobody knows what was asked for.
  void start(const Order& asked, std::vector<OnBegun> asks, TaskThread::Task work);
  bool is_asked_again(const Order& order, const OnBegun& begun);
  void tell_begun(std::uint64_t id);
  std::vector<OnBegun> take_refused();
  Migration prepare(const Order& order, const std::stop_token& stop);
  void run(const Migration& migration, const Order& order, const std::stop_token& stop);
  // The keys that are hot.
  std::vector<std::uint64_t> sample(const Order& order, hybridlog::Address from,
                                    const std::stop_token& stop);
  hybridlog::Address cut(const Migration& migration, const std::vector<std::uint64_t>& hot,
                         const std::stop_token& stop);
  void send_sampled(const Migration& migration, const std::vector<std::uint64_t>& hot,
                    const std::stop_token& stop);
  // Nothing: it is cancelled. Else what is: the target owns the range.
  std::optional<ClusterState> cancel(std::uint64_t id, const std::string& why,
                                     const std::stop_token& stop);
  void move(const Migration& migration, hybridlog::Address end, const std::stop_token& stop);
  bool send_all(const Migration& migration, hybridlog::Address end, const std::stop_token& stop);
  void require_long_values(const nlohmann::json& prepared, ServerNumber target) const;
  void resolve(const std::stop_token& stop);
  nlohmann::json ask_target(const Migration& migration, ClusterMessageType type,
                            const nlohmann::json& args, const std::vector<std::uint8_t>& records,
                            const std::stop_token& stop);
  nlohmann::json ask_metadata(ClusterMessageType type, const nlohmann::json& args,
                              const std::stop_token& stop);
  void reach(ServerNumber target, const std::stop_token& stop);
  void note(const char* step);
  void pause_after(const char* why, const std::stop_token& stop);

  const Place place_;
  std::unique_ptr<Asking> target_;
  Member target_at_;
  std::atomic<bool> is_busy_{false}, may_cut_{false};
  mutable std::mutex mutex_;  // of what follows
  nlohmann::json status_;
  std::deque<nlohmann::json> before_;
  std::optional<Order> asked_;  // the last one, unless it was refused
  bool is_resumed_ = false, has_begun_ = false;
  std::vector<OnBegun> asks_;  // until it has
  TaskThread thread_;          // last: it uses the others
};

}  // namespace turntable::shadowfax
