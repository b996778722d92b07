// What happens on a host at given instants of a measurement: faults, and changes of load.
//
// Each event is a list of requests, which are sent in turn to this host's nodes; the supervisor is
// one of them (`stop` with "kill", `spawn`). Events do not wait for each other: one that takes its
// time, as a spawn does, does not delay the next.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace turntable::node {

class Timeline {
 public:
  using Json = nlohmann::json;

  struct Request {
    std::string node;
    std::string command;
    Json args;
  };

  // Asks a node of this host; throws if it did not do what it was asked. Called on threads of the
  // timeline, several at once.
  using Ask = std::function<void(const Request& request)>;

  struct Event {
    std::int64_t at_ns = 0;  // CLOCK_REALTIME
    std::string label;       // for people
    std::vector<Request> requests;
    std::optional<std::int64_t> began_ns;  // CLOCK_REALTIME; empty: not yet
    std::optional<std::int64_t> ended_ns;
    std::string error;  // of the first request that failed; those after it are not sent
  };

  explicit Timeline(Ask ask) : ask_(std::move(ask)) {}
  ~Timeline() { clear(); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Takes the place of all earlier events, as clear() ends them. An instant that has passed is now.
  void set(std::vector<Event> events);

  // Events to come are forgotten; returns when those in progress have ended.
  void clear();

  // A copy; thread-safe, as everything here.
  std::vector<Event> events() const;

 private:
  void forget();  // setting_ is held
  void run(std::size_t index);

  Ask ask_;
  std::mutex setting_;        // one set() or clear() at a time
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  bool clearing_ = false;
  std::vector<Event> events_;
  std::vector<std::jthread> threads_;  // one per event
};

// {"events": [{"at_ns", "label", "requests": [{"node", "command", "args"}]}]}
std::vector<Timeline::Event> timeline_of(const nlohmann::json& args);

nlohmann::json to_json(const std::vector<Timeline::Event>& events);

}  // namespace turntable::node
