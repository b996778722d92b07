// The simulation itself: events in the order of their times.
//
//   client --> switch --> server: FIFO and workers --> switch --> client
//
// A copy of a request has one event ahead of it at any time: it arrives at its server, its work is
// done, or its answer passes the switch. What the switch decides, it decides when a request passes
// it. Nothing is allocated for an event: records of requests and copies are used again.
#pragma once

#include <cstdint>
#include <vector>

#include "common/min_heap.h"
#include "common/ring.h"
#include "netclone/laedge.h"
#include "netclone/packet.h"
#include "netclone/simulation/arrivals.h"
#include "netclone/simulation/result.h"
#include "netclone/simulation/settings.h"

namespace turntable::netclone::simulation {

class Engine {
 public:
  // Settings and result must outlive the engine.
  Engine(const Settings& settings, const Window& window, Result& result);

  // Until all requests are answered or the drain is over. Once.
  void run(Arrivals& arrivals);

 private:
  using Index = std::uint32_t;

  enum class Stage : std::uint8_t { kToServer, kWorking, kToSwitch };

  struct Request {
    std::uint64_t id;
    std::int64_t intended_ns;
    std::uint8_t copies;  // under way
    bool answered;
    bool in_window;
  };

  struct Copy {
    Index request;
    std::uint32_t server;
    Clone clone;
    Stage stage;
    std::uint32_t queue;  // reported with the answer
    bool all_busy;        // of the server, just before the work was done
  };

  struct Event {
    std::int64_t at_ns;
    std::uint32_t order;  // of events at one instant
    Index copy;

    friend bool operator<(const Event& a, const Event& b) noexcept {
      return a.at_ns != b.at_ns ? a.at_ns < b.at_ns
                                : static_cast<std::int32_t>(a.order - b.order) < 0;
    }
  };

  struct Server {
    Ring<Index> fifo;  // of copies
    std::uint32_t busy = 0;
  };

  // Records that are not in use are found again.
  template <typename Record>
  struct Pool {
    std::vector<Record> records;
    std::vector<Index> free;

    Index add(const Record& record) {
      if (free.empty()) {
        records.push_back(record);
        return static_cast<Index>(records.size() - 1);
      }
      const Index index = free.back();
      free.pop_back();
      records[index] = record;
      return index;
    }
    Record& operator[](Index index) noexcept { return records[index]; }
  };

  // Requests, as they pass the switch or the coordinator.
  void submit(const Arrival& arrival);
  void send_by_switch(Index request, std::int64_t at_ns);
  void send_by_coordinator(Index request, std::int64_t at_ns);
  void send(Index request, std::uint32_t server, Clone clone, std::int64_t at_ns);
  void send_both(Index request, std::uint32_t first, std::uint32_t second, std::int64_t at_ns,
                 std::int64_t second_later_ns);

  // Each takes the first event from the heap, and may put another one for its copy there.
  void step(const Event& event);
  void arrive(const Event& event, Copy& copy);
  void finish(const Event& event, Copy& copy);
  void pass_switch(const Event& event, const Copy& copy);

  void drop(Index copy);
  void report(const Copy& copy, const Request& request);
  void deliver(Request& request, std::int64_t at_ns);
  void release(Index copy);
  std::int64_t service_ns(const Copy& copy) noexcept;
  Event event_at(std::int64_t at_ns, Index copy) noexcept { return {at_ns, order_++, copy}; }

  const Settings& settings_;
  const Window window_;
  const std::int64_t window_middle_ns_;
  Result& result_;
  MinHeap<Event> events_;
  std::uint32_t order_ = 0;
  Pool<Request> requests_;
  Pool<Copy> copies_;
  std::vector<Server> servers_;
  std::vector<std::uint32_t> reported_;  // queue lengths that the switch knows
  LaedgeCredits credits_;
  Ring<Index> coordinator_;  // requests that wait for an idle server
};

}  // namespace turntable::netclone::simulation
