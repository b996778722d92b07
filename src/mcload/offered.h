// Percentiles of all requests that were offered: those with an answer, and those without.
#pragma once

#include <cstdint>

#include "stats/histogram.h"

namespace turntable::mcload {

// A request without an answer counts as slower than all that have one, and at least with the time
// that every request was waited for: a server that answers few does not look fast. The SLI of
// Swan's analysis is the same.
class Offered {
 public:
  // `answered` must outlive this object.
  Offered(const stats::Histogram& answered, std::int64_t unanswered, std::int64_t waited_ns)
      : answered_(answered), unanswered_(unanswered), waited_ns_(waited_ns) {}

  const stats::Histogram& answered() const noexcept { return answered_; }
  std::int64_t unanswered() const noexcept { return unanswered_; }

  // Whether the request at this percentile has an answer.
  bool has_answer_at(double percentile) const noexcept;
  // 0 where nothing was offered.
  std::int64_t percentile_ns(double percentile) const noexcept;

 private:
  double of_answered(double percentile) const noexcept;

  const stats::Histogram& answered_;
  std::int64_t unanswered_;
  std::int64_t waited_ns_;
};

}  // namespace turntable::mcload
