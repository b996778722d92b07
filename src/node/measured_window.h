// The window that servers count: arguments of their command `start`.
#pragma once

#include <cstdint>

#include "node/arguments.h"

namespace turntable::node {

// CLOCK_REALTIME.
struct MeasuredWindow {
  std::int64_t from_ns;
  std::int64_t until_ns;
};

// "measure_from_ns" and "measure_until_ns". Throws bad_argument for a window that is empty or has
// begun.
MeasuredWindow measured_window(const Arguments& arguments);

}  // namespace turntable::node
