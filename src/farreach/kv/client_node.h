// The commands of kvclient (docs/architecture.md §5).
#pragma once

#include <netinet/in.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "farreach/kv/arguments.h"
#include "farreach/kv/client_thread.h"
#include "farreach/kv/copies_link.h"
#include "farreach/kv/open_plan.h"
#include "farreach/kv/popularity_plan.h"
#include "farreach/kv/replay.h"
#include "load/client_life.h"

namespace turntable::kv {

class ClientNode {
 public:
  using Json = nlohmann::json;

  // `datagrams`: their means, and the address they come from.
  // `set_state` is told "idle", "prepared", "running" or "finished"; it may be called on any
  // thread.
  // Without credentials `prepare` takes no controller.
  ClientNode(const net::DatagramSettings& datagrams, std::optional<net::Credentials> credentials,
             std::function<void(std::string)> set_state);

  // Thread-safe. All throw CommandError. The statistics of an iteration stay until the next
  // `prepare`, also if `stop` ended it early.
  Json prepare(const Json& args);
  Json start(const Json& args) { return life_.start(args); }
  Json wait(const Json& args) { return life_.wait(args); }
  Json stats(const Json& args);
  Json popularity(const Json& args);
  Json stop(const Json& args) { return life_.stop(args); }

  // Ends whatever runs or waits. Thread-safe; for the end of the process.
  void cancel() { life_.cancel(); }

 private:
  struct Plan {
    workload::Workload workload;
    unsigned scale;
    std::vector<unsigned> partitions;
    double begin;  // where in what they replay clients begin, as a share of it
    unsigned first_client;
    unsigned clients;
    unsigned threads;
    sockaddr_in server;
    std::int64_t timeout_ns;
    std::int64_t ramp_ns;  // from the first client's beginning to, nearly, the last one's
    Variations variations;
    std::size_t copies_max;  // of the machine
    std::optional<sockaddr_in> controller;
    std::string history;                                  // directory; empty: none
    std::vector<std::vector<workload::KeyId>> hot_lists;  // by period; empty: they do not change
    std::optional<OpenPlan> open;                         // nothing: closed loops
  };

  static Plan parse_plan(const Arguments& arguments, bool has_secret);
  HistoryLog* open_history(const Plan& plan, std::size_t first_client);
  void open_threads(const Plan& plan);
  std::unique_ptr<ClientPart> open_thread(const Plan& plan, std::size_t begin, std::size_t end);
  void connect(const Plan& plan);
  Json prepared_answer(double trace_seconds) const;
  Json statistics();
  std::vector<unsigned> idle_clients() const;

  const net::DatagramSettings datagrams_;
  const std::optional<net::Credentials> credentials_;
  // By life_'s locks.
  unsigned first_client_ = 0;
  std::optional<Traces> traces_;
  std::optional<Replay> replay_;
  PopularityChanges changes_;
  std::vector<std::unique_ptr<HistoryLog>> histories_;  // of the threads, if they are asked for
  std::vector<std::unique_ptr<ClientPart>> clients_;
  std::vector<const OpenClient*> open_;  // of these, those whose loop is open: all or none
  std::optional<CopiesLink> link_;       // from `prepare` to the next

  load::ClientLife life_;  // last: its threads use the others
};

}  // namespace turntable::kv
