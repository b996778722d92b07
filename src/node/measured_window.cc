#include "node/measured_window.h"

#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "node/common_start.h"

namespace turntable::node {

MeasuredWindow measured_window(const Arguments& arguments) {
  const std::int64_t from = arguments.integer("measure_from_ns", 0, INT64_MAX);
  const std::int64_t until = arguments.integer("measure_until_ns", 0, INT64_MAX);
  if (until <= from) arguments.fail("measure_until_ns", until, "an instant after measure_from_ns");
  const std::int64_t late = realtime_ns() - from;
  if (late > 0) {
    arguments.fail("measure_from_ns", from,
                   "an instant to come (CLOCK_REALTIME): the command came " + seconds_text(late) +
                       " after it, and what was served since cannot be counted any more; " +
                       kWhyLate);
  }
  return {.from_ns = from, .until_ns = until};
}

}  // namespace turntable::node
