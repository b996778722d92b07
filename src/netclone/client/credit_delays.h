// How long the credits of LAEDGE's servers are under way for nothing: from the coordinator to the
// server and back, and until either looks at the packet. All the time that a credit was taken, of
// which answers tell, without the work.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "netclone/packet.h"
#include "netclone/simulation/settings.h"

namespace turntable::netclone {

class CreditDelays {
 public:
  // Nothing is known of the work, and so nothing is noted.
  CreditDelays() = default;
  explicit CreditDelays(simulation::Settings work)
      : work_(std::move(work)), servers_(work_->servers()) {}

  // An answer of laedge. Not where the credit was taken for longer than the answer can tell.
  void note(const Packet& answer) noexcept;
  // Those of another client of the same iteration.
  void merge(const CreditDelays& other);

  // Means by server; none of those that did not answer. Empty: nothing was noted.
  std::vector<std::optional<std::int64_t>> means_ns() const;

 private:
  struct Server {
    std::int64_t answers = 0;
    std::int64_t sum_ns = 0;
  };

  std::optional<simulation::Settings> work_;
  std::vector<Server> servers_;
};

}  // namespace turntable::netclone
