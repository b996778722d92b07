// What all clients of an iteration send, and where: every client draws its own requests from it.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "net/udp.h"
#include "netclone/method.h"
#include "netclone/mix.h"
#include "workload/zipfian.h"

namespace turntable::netclone {

struct Traffic {
  Method method = Method::kNoClone;
  std::uint64_t seed = 0;
  std::vector<sockaddr_in> servers =
      {};  // where noclone and cclone send, and where all but laedge have their answers from
  sockaddr_in gate{};  // where the other methods send: switch or coordinator
  OperationMix mix = {};
  std::optional<workload::Zipfian> objects = {};  // with a mix

  std::uint32_t server_count() const noexcept { return static_cast<std::uint32_t>(servers.size()); }
  // An answer of that server comes from there: from itself, or from the coordinator that hides it.
  bool is_answer_from(const sockaddr_in& from, std::uint32_t server) const noexcept {
    if (server >= servers.size()) return false;
    return net::same_endpoint(from, method == Method::kLaedge ? gate : servers[server]);
  }
  unsigned copies_sent() const noexcept { return method == Method::kCClone ? 2 : 1; }
};

}  // namespace turntable::netclone
