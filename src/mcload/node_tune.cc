// The command `tune`.

#include "common/clock.h"
#include "common/command_error.h"
#include "mcload/node.h"
#include "mcload/peak.h"
#include "node/arguments.h"

namespace turntable::mcload {

McloadNode::Json McloadNode::tune(const Json& args) {
  const std::string where = "mcload-node tune";
  const node::Arguments arguments(
      where, args,
      {"server", "protocol", "content", "load", "search", "key", "directory", "seed", "forget",
       "placement", "realtime", "spin_us", "deadline_s"});
  const Store store = store_argument(where, args);
  GeneratorSettings settings;
  const Json& load = arguments.object("load");
  const node::Arguments known(where + ", load", load,
                              {"threads", "connections", "depth", "arrivals", "update"});
  read_load(where + ", load", load, settings);
  read_thread_settings(where, args, settings);
  const PeakSettings search = PeakSettings::from_json(where, arguments.object("search"));
  const std::string key = arguments.text("key");
  const std::string directory = arguments.text("directory");
  settings.servers = {store.server};
  settings.protocol = store.protocol;
  settings.seed = static_cast<std::uint64_t>(arguments.integer_or("seed", 0, INT64_MAX, 1));
  const double deadline_s = arguments.number("deadline_s", 0.001, 24 * 3600);
  const std::int64_t deadline_ns = monotonic_ns() + static_cast<std::int64_t>(deadline_s * 1e9);
  const bool forget = args.contains("forget") && arguments.boolean("forget");

  const auto command = life_.begin_prepare([&] { generator_.reset(); });
  const node::Kept kept(where, directory, "peak", key);
  Json peak = forget ? Json() : read_peak(kept);
  const bool was_known = !peak.is_null();
  if (!was_known) {
    settings.content = content(where, store.content);
    peak = peak_json(where, search,
                     find_peak(where, settings, search, deadline_ns,
                               make_play_(where, life_.cancelled(), search.drain_s)));
    peak["found_at_ns"] = realtime_ns();
    kept.write(peak);
  }
  peak.erase("key");
  peak["was_known"] = was_known;
  const std::lock_guard lock(mutex_);
  peaks_[key] = peak;
  return peak;
}

}  // namespace turntable::mcload
