// What all clients of an iteration send, and where: every client draws its own requests from it.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "netclone/method.h"
#include "netclone/mix.h"
#include "workload/zipfian.h"

namespace turntable::netclone {

struct Traffic {
  Method method = Method::kNoClone;
  std::uint64_t seed = 0;
  std::vector<sockaddr_in> servers =
      {};              // of noclone and cclone; of the others their number counts
  sockaddr_in gate{};  // where all requests of the others go: switch or coordinator
  OperationMix mix = {};
  std::optional<workload::Zipfian> objects = {};  // with a mix

  std::uint32_t server_count() const noexcept { return static_cast<std::uint32_t>(servers.size()); }
  unsigned copies_sent() const noexcept { return method == Method::kCClone ? 2 : 1; }
};

}  // namespace turntable::netclone
