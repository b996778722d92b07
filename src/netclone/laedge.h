// Whom LAEDGE's coordinator sends a request to: the rule alone, without packets (netclone reference
// §7).
//
// A server is idle while it has a credit. In mode binary it has one, as published: so a server with
// W workers serves one request at a time. In mode slots it has one for each worker.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "netclone/draws.h"
#include "netclone/method.h"

namespace turntable::netclone {

class LaedgeCredits {
 public:
  // 0: every server is busy, so the request waits in the coordinator's queue. 1: a single copy. 2:
  // the request itself and a clone, to different servers.
  struct Choice {
    unsigned copies = 0;
    std::array<std::uint32_t, 2> server{};
  };

  // workers: of each server.
  LaedgeCredits(LaedgeMode mode, const std::vector<std::uint32_t>& workers) : credits_(workers) {
    if (mode == LaedgeMode::kBinary) credits_.assign(workers.size(), 1);
    idle_.reserve(workers.size());
  }

  // Two different idle servers, or the only one. Takes a credit of each.
  Choice choose(std::uint64_t seed, std::uint64_t request) noexcept {
    idle_.clear();
    for (std::uint32_t server = 0; server < credits_.size(); ++server)
      if (credits_[server] > 0) idle_.push_back(server);
    Choice choice;
    while (choice.copies < 2 && !idle_.empty()) {
      const double drawn = uniform(seed, Stream::kCoordinator, request, choice.copies);
      const auto chosen = idle_.begin() + index_of(drawn, static_cast<std::uint32_t>(idle_.size()));
      choice.server[choice.copies++] = *chosen;
      take(*chosen);
      idle_.erase(chosen);
    }
    return choice;
  }

  // A request of the queue goes to a server that has answered: a single copy.
  void take(std::uint32_t server) noexcept { --credits_[server]; }

  // Every answer gives its server's credit back, that of a slower copy too.
  void answered(std::uint32_t server) noexcept { ++credits_[server]; }

 private:
  std::vector<std::uint32_t> credits_;
  std::vector<std::uint32_t> idle_;  // of choose(): kept so that it need not allocate
};

}  // namespace turntable::netclone
