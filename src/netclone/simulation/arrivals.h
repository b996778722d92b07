// The requests of all clients, in the order of their intended instants.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/min_heap.h"
#include "load/arrivals.h"
#include "netclone/packet.h"

namespace turntable::netclone::simulation {

struct Arrival {
  std::int64_t at_ns;
  std::uint64_t request;  // its id

  friend bool operator<(const Arrival& a, const Arrival& b) noexcept {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.request < b.request;
  }
};

class Arrivals {
 public:
  virtual ~Arrivals() = default;

  bool empty() const noexcept { return next_.empty(); }
  const Arrival& first() const noexcept { return next_.first(); }
  void pop() {
    Arrival arrival = next_.first();
    if (advance(arrival)) {
      next_.replace_first(arrival);
    } else {
      next_.pop();
    }
  }

 protected:
  // From one request of a client to its next one. False: there is none.
  virtual bool advance(Arrival& arrival) = 0;

  MinHeap<Arrival> next_;  // of each client
};

// Instants that are known before.
struct Client {
  std::uint16_t index = 0;
  std::vector<std::int64_t> instants;  // of request k at [k]
};

class ReplayedArrivals final : public Arrivals {
 public:
  // They must outlive this object.
  explicit ReplayedArrivals(std::span<const Client> clients);

 private:
  bool advance(Arrival& arrival) override;

  std::span<const Client> clients_;
  std::vector<std::uint32_t> position_;  // in clients_, by index
};

// With the gaps that clients draw, from 0 on.
class DrawnArrivals final : public Arrivals {
 public:
  // gaps: of one client, all have the same.
  DrawnArrivals(std::uint64_t seed, std::uint16_t clients, load::Arrivals gaps,
                std::int64_t until_ns);

 private:
  bool advance(Arrival& arrival) override;
  std::int64_t gap_ns(std::uint64_t request) const noexcept;

  std::uint64_t seed_;
  load::Arrivals gaps_;
  std::int64_t until_ns_;
};

}  // namespace turntable::netclone::simulation
