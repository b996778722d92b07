// What primaries hear of the switch without asking, and what follows from its ports: lists of
// digests and entries that are idle are told of, and members of groups whose ports go down are not
// chosen any more.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "p4runtime_server/client_streams.h"
#include "p4runtime_server/idle_timeouts.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

// A thread of its own.
class Notifications {
 public:
  // nullptr: there is no switch.
  using Current = std::function<std::shared_ptr<RunningProgram>()>;

  Notifications(ClientStreams& streams, Current current);
  ~Notifications();
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  // Something was written: there may be digests to wait for now.
  void wake();

 private:
  void run();
  void pass_digests_on(RunningProgram& program);
  void send(DigestLists::Lists lists);
  void follow_ports(RunningProgram& program);
  void tell_of_idle_entries(RunningProgram& program);
  bool stopped_within(std::chrono::milliseconds time);

  ClientStreams& streams_;
  Current current_;
  IdleTimeouts idle_timeouts_;  // of the thread alone
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool woken_ = false;
  std::thread thread_;
};

}  // namespace turntable::p4runtime_server
