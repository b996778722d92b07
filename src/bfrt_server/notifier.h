// Sends digests to the client that is bound to the program, changes of ports to those that want to
// know, and entries that nothing has hit for their time to live to who asked for that.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <thread>

#include "bfrt_server/client_streams.h"
#include "bfrt_server/sessions.h"
#include "bfrt_server/switch_keeper.h"

namespace turntable::bfrt_server {

// Thread-safe.
class Notifier {
 public:
  Notifier(SwitchKeeper& keeper, Sessions& sessions, ClientStreams& streams);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Whether a client hears of ports that go up or down from now on.
  void watch_ports(ClientId client, bool enable, RunningSwitch& running);
  bool watches_ports(ClientId client) const;

  // How a table ages: its attribute IdleTimeout, and whom to tell.
  void set_aging(std::uint32_t table, ClientId client, const bfrt_proto::IdleTable& aging);
  bfrt_proto::IdleTable aging(std::uint32_t table) const;

 private:
  void run();
  void pass_digests_on(RunningSwitch& running);
  void send_digests(RunningSwitch& running, ClientId client, const nlohmann::json& digests);
  void tell_of_ports(RunningSwitch& running);
  std::map<DevPort, bool> changed_ports(RunningSwitch& running);
  void tell_of_ages(RunningSwitch& running);
  void tell_of_age(const bfrt::Table& table, const nlohmann::json& event, ClientId client);
  std::optional<ClientId> learner(const RunningSwitch& running);
  bool stopped_within(std::chrono::milliseconds time);

  SwitchKeeper& keeper_;
  Sessions& sessions_;
  ClientStreams& streams_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::set<ClientId> port_watchers_;
  std::map<DevPort, bool> ports_before_;  // up or not, while somebody watches
  struct AgingTable {
    bfrt_proto::IdleTable attribute;
    ClientId client;
  };
  std::map<std::uint32_t, AgingTable> aging_;
  std::thread thread_;
};

}  // namespace turntable::bfrt_server
