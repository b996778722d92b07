#include "mcload/settings_json.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "mcload/plan.h"
#include "node/arguments.h"
#include "placement/cpu_list.h"

namespace turntable::mcload {
namespace {

using Json = nlohmann::json;

stats::Histogram histogram(const Json& raw, const char* name) {
  return stats::Histogram::decode(raw.at(name).get<std::string>());
}

Errors errors_of(const Json& errors) {
  return {.protocol = errors.at("protocol"),
          .server_error = errors.at("server_error"),
          .client_error = errors.at("client_error"),
          .out_of_memory = errors.at("out_of_memory"),
          .wrong_size = errors.at("wrong_size"),
          .closed = errors.at("closed"),
          .reconnected = errors.at("reconnected")};
}

void read_threads(const Json& rows, std::vector<load::ThreadTiming>& threads) {
  for (const Json& row : rows) {
    load::ThreadTiming timing{.start_lateness_ns = row.at("start_lateness_ns"),
                              .measured_ns = row.at("measured_ns"),
                              .window_lateness_ns = row.at("window_lateness_ns"),
                              .read_lateness_max_ns = row.at("read_lateness_max_ns"),
                              .scheduling = {},
                              .realtime = row.at("realtime")};
    if (const Json& times = row.at("scheduling"); !times.is_null())
      timing.scheduling = SchedulingTimes{times.at("ran_ns"), times.at("waited_ns")};
    threads.push_back(timing);
  }
}

void read_seconds(const Json& rows, std::vector<load::OpenLoopSecond>& seconds) {
  for (const Json& row : rows) {
    seconds.push_back({.offered = row.at("offered"),
                       .delivered = row.at("delivered"),
                       .latency_sum_ns = row.at("latency_sum_ns"),
                       .latency_max_ns = row.at("latency_max_ns")});
  }
}

}  // namespace

Json to_json(const GeneratorSettings& settings) {
  Json servers = Json::array();
  for (const ServerAddress& server : settings.servers) servers.push_back(server.text());
  const ContentSettings& content = settings.content->settings();
  return {{"servers", servers},
          {"protocol", protocol_name(settings.protocol)},
          {"content",
           {{"records", content.records},
            {"key_size", content.key_size},
            {"value_size", content.value_size},
            {"seed", content.seed}}},
          {"threads", settings.threads},
          {"connections", settings.connections},
          {"depth", settings.depth},
          {"arrivals", settings.arrivals},
          {"update", settings.update},
          {"rate_per_s", settings.rate_per_s},
          {"closed_loop", settings.is_closed_loop},
          {"no_delay", settings.no_delay},
          {"connect_timeout_ns", settings.connect_timeout_ns},
          {"seed", settings.seed},
          {"client", settings.client},
          {"affinity", settings.one_cpu_each},
          {"realtime", settings.frame.realtime},
          {"spin_us", settings.frame.spin_ns / 1000}};
}

GeneratorSettings generator_settings_of(const Json& json) {
  const std::string where = "mcload agent";
  GeneratorSettings settings;
  read_load(where, json, settings);
  read_thread_settings(where, json, settings);
  for (const Json& server : json.at("servers"))
    settings.servers.push_back(ServerAddress::parse(server.get<std::string>()));
  settings.protocol = protocol_of(json.at("protocol").get<std::string>());
  settings.content =
      std::make_shared<const Content>(ContentSettings::from_json(where, json.at("content")));
  settings.rate_per_s = json.at("rate_per_s");
  settings.is_closed_loop = json.at("closed_loop");
  settings.no_delay = json.at("no_delay");
  settings.connect_timeout_ns = json.at("connect_timeout_ns");
  settings.seed = json.at("seed");
  settings.client = json.at("client");
  if (json.at("affinity").get<bool>()) {
    settings.one_cpu_each = true;
    settings.cpus = allowed_cpus();
  }
  return settings;
}

Measured measured_of(const Json& raw) {
  Measured measured{.window_ns = raw.at("window_ns"),
                    .waited_ns = raw.at("waited_ns"),
                    .loop = {},
                    .key_value = {},
                    .threads = {}};
  load::OpenLoopStatistics& loop = measured.loop;
  loop.offered = raw.at("offered");
  loop.delivered = raw.at("delivered");
  loop.lost = raw.at("lost");
  loop.unsent = raw.at("unsent");
  loop.withheld = raw.at("withheld");
  loop.requests_total = raw.at("requests_total");
  loop.answers_total = raw.at("answers_total");
  loop.latency_ns = histogram(raw, "latency_ns");
  loop.from_send_ns = histogram(raw, "from_send_ns");
  loop.send_late_ns = histogram(raw, "send_late_ns");
  loop.read_late_ns = histogram(raw, "read_late_ns");
  read_seconds(raw.at("per_second"), loop.seconds);
  read_threads(raw.at("threads"), measured.threads);
  KeyValueStatistics& s = measured.key_value;
  s.gets = raw.at("gets");
  s.sets = raw.at("sets");
  s.hits = raw.at("hits");
  s.misses = raw.at("misses");
  s.get = {.intended_ns = histogram(raw, "get_latency_ns"),
           .from_send_ns = histogram(raw, "get_from_send_ns"),
           .lost = raw.at("get_lost"),
           .unsent = raw.at("get_unsent")};
  s.set = {.intended_ns = histogram(raw, "set_latency_ns"),
           .from_send_ns = histogram(raw, "set_from_send_ns"),
           .lost = raw.at("set_lost"),
           .unsent = raw.at("set_unsent")};
  s.errors = errors_of(raw.at("errors"));
  s.silent = raw.at("silent");
  s.queued = histogram(raw, "queued");
  s.rx_bytes = raw.at("rx_bytes");
  s.tx_bytes = raw.at("tx_bytes");
  s.user_ns = raw.at("cpu").at("user_ns");
  s.system_ns = raw.at("cpu").at("system_ns");
  return measured;
}

}  // namespace turntable::mcload
