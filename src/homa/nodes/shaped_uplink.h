// The link of a node whose packets nobody paces: a token bucket (TBF) at the interface that has its
// address, set by iproute2's `tc` and removed at the end.
//
// TBF counts a frame's 14 bytes of Ethernet and its IP packet, and `stab` adds the link's overhead
// to each. TCP hands frames to it that are cut later, which would count as one: while the interface
// is shaped, its `gso_max_segs` is 1. Afterwards it is what the device can (`tso_max_segs`).
//
// One node shapes an interface; another one is refused.
#pragma once

#include <netinet/in.h>

#include <string>

#include "common/link_clock.h"
#include "common/unique_fd.h"

namespace turntable::homa {

class ShapedUplink {
 public:
  // `local`: the node's address. Nothing is done for a link without a rate, and on loopback. Throws
  // CommandError.
  ShapedUplink(const sockaddr_in& local, const Link& link);
  ShapedUplink(const ShapedUplink&) = delete;
  ShapedUplink& operator=(const ShapedUplink&) = delete;
  ~ShapedUplink();

 private:
  void shape(const Link& link) const;

  std::string interface_;  // empty: nothing is shaped
  UniqueFd claim_;
};

// Removes what a node that was killed has left at the interface with this address. Throws
// CommandError.
void remove_leftover_shaping(const sockaddr_in& local);

}  // namespace turntable::homa
