// The commands of cache-controller (docs/architecture.md §5).
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "farreach/cache/controller.h"
#include "farreach/cache/controller_listener.h"
#include "net/event_loop.h"

namespace turntable::cache {

class ControllerNode {
 public:
  using Json = nlohmann::json;

  // Listens for servers and clients at `address`; keeps snapshots in `state_directory`. `set_state`
  // is told "idle" or "serving", on any thread. The loop has to run while commands are handled.
  ControllerNode(net::EventLoop& loop, const sockaddr_in& address, net::Credentials credentials,
                 const std::filesystem::path& state_directory,
                 std::function<void(std::string)> set_state);

  // Any thread but the loop's. All throw CommandError.
  Json configure(const Json& args);
  Json warm_up(const Json& args);
  Json settings(const Json& args);
  Json readmit(const Json& args);
  Json snapshot(const Json& args);
  Json recover(const Json& args);
  Json cached_set(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

  std::uint16_t port() const { return listener_.port(); }

 private:
  template <typename Make>
  Json run(const char* command, double deadline_s, const Make& make);
  template <typename Make>
  Json run_within(const char* command, double deadline_s, const Make& make);
  std::exception_ptr overdue(const char* command) const;
  Controller& controller(const char* command);

  net::EventLoop& loop_;
  std::function<void(std::string)> set_state_;
  std::uint64_t refused_requests_ = 0;  // of servers, while there was nobody to hear them
  SnapshotDirectory snapshots_;
  const net::Credentials credentials_;
  ControllerListener listener_;
  std::unique_ptr<Controller> controller_;
};

}  // namespace turntable::cache
