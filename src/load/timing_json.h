// A thread's timing as nodes record it (docs/raw-format.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "load/thread_frame.h"

namespace turntable::load {

nlohmann::json timing_json(const ThreadTiming& timing);

}  // namespace turntable::load
