// redis-calibrate: how long GET and SCAN take on an idle redis-server of this machine, for
// planning. Answers JSON: {"service": {"GET": {...}, "SCAN": {...}}}, as `prepare` of rpcserver
// takes it.
#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "common/standard_output.h"
#include "netclone/server/redis_calibration.h"
#include "netclone/server/redis_process.h"

namespace turntable::netclone {
namespace {

int run(int argc, char** argv) {
  ProgramOptions app("redis-calibrate",
                     "Measures GET and SCAN on an idle redis-server of its own; answers JSON");
  std::string directory;
  std::int64_t objects = 1'000'000;
  RedisSamples samples;
  app.option("--directory", directory, "Where its socket and its log go").required();
  app.option("--objects", objects, "Objects of 16 B key and 64 B value")
      .shows_default()
      .within(kScannedObjects, 100'000'000);
  app.option("--gets", samples.gets, "So many GETs").shows_default().within(1, 10'000'000);
  app.option("--scans", samples.scans, "So many SCANs").shows_default().within(1, 10'000'000);
  if (const auto status = app.parse(argc, argv)) return *status;
  const auto count = static_cast<std::uint32_t>(objects);
  const RedisProcess process(directory, "redis-calibrate");
  RedisConnection connection(process.socket(), count);
  connection.load();
  const nlohmann::json answer = {{"service", calibrated_service(connection, count, samples)}};
  print_result(answer.dump() + "\n");
  return 0;
}

}  // namespace
}  // namespace turntable::netclone

int main(int argc, char** argv) {
  return turntable::run_main("redis-calibrate",
                             [&] { return turntable::netclone::run(argc, argv); });
}
