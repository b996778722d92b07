// How long the path takes that a request and its answer travel while nobody does any work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/datagrams.h"
#include "netclone/client/traffic.h"

namespace turntable::netclone {

struct PathDelay {
  std::int64_t median_ns = 0;              // of all probes
  std::vector<std::int64_t> by_server_ns;  // medians of those that each server answered
};

struct ProbeSettings {
  std::uint16_t client = 0;
  unsigned per_server = 20;
  std::int64_t deadline_ns = 2'000'000'000;  // for the probes of one server
};

// Sends probes, one after the other, on the way that requests take. Throws CommandError that names
// a server of which no answer came; `where` begins the message.
PathDelay probe_path(const std::string& where, const Traffic& traffic,
                     const ProbeSettings& settings, net::Datagrams& datagrams);

}  // namespace turntable::netclone
