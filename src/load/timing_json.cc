#include "load/timing_json.h"

#include <nlohmann/json.hpp>

namespace turntable::load {

nlohmann::json timing_json(const ThreadTiming& timing) {
  nlohmann::json row = {{"start_lateness_ns", timing.start_lateness_ns},
                        {"measured_ns", timing.measured_ns},
                        {"window_lateness_ns", timing.window_lateness_ns},
                        {"read_lateness_max_ns", timing.read_lateness_max_ns},
                        {"scheduling", nullptr},
                        {"realtime", timing.realtime}};
  if (timing.scheduling) {
    row["scheduling"] = {{"ran_ns", timing.scheduling->run_ns},
                         {"waited_ns", timing.scheduling->wait_ns}};
  }
  return row;
}

}  // namespace turntable::load
