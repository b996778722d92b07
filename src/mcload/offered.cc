#include "mcload/offered.h"

#include <algorithm>

namespace turntable::mcload {

// Which percentile of the answers it is; above 100: of none.
double Offered::of_answered(double percentile) const noexcept {
  const auto answered = static_cast<double>(answered_.count());
  return percentile * (answered + static_cast<double>(unanswered_)) / answered;
}

bool Offered::has_answer_at(double percentile) const noexcept {
  return answered_.count() > 0 && of_answered(percentile) <= 100;
}

std::int64_t Offered::percentile_ns(double percentile) const noexcept {
  if (has_answer_at(percentile)) return answered_.value_at_percentile(of_answered(percentile));
  return unanswered_ > 0 ? std::max(answered_.max(), waited_ns_) : 0;
}

}  // namespace turntable::mcload
