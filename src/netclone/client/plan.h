// What `prepare` asks of an rpcclient.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "load/arrivals.h"
#include "load/open_loop.h"
#include "load/thread_frame.h"
#include "netclone/client/path_probe.h"
#include "netclone/client/traffic.h"
#include "netclone/simulation/settings.h"

namespace turntable::netclone {

struct Plan {
  using Json = nlohmann::json;

  Traffic traffic;
  std::vector<std::uint16_t> clients;  // of this host
  std::uint16_t clients_total = 1;
  double rate_per_s = 0;  // of all clients
  load::Process process = load::Process::kExponential;
  double arrivals_dilation = 1;
  std::vector<double> trace;
  load::OpenLoop::Settings loop;
  load::ThreadFrame::Settings frame;
  unsigned probes = 0;  // of each server
  std::int64_t probe_deadline_ns = 0;
  std::optional<simulation::Settings> work;  // of the servers, without delays of the path

  // Throws CommandError bad_argument. `where` begins messages.
  static Plan parse(const std::string& where, const Json& args);

  load::Arrivals arrivals(std::uint16_t client) const;
  // The draws of a client's gaps.
  load::Gap gap(std::uint16_t client) const;
};

}  // namespace turntable::netclone
