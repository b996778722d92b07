#include "dataplane/digest_queue.h"

#include <algorithm>

#include "dataplane/port_numbers.h"

namespace turntable::dataplane {

void DigestQueue::push(std::uint32_t filter, std::uint16_t ingress_port,
                       std::span<const std::uint8_t> fields) noexcept {
  if (count_ == ring_.size()) {
    ++lost_;
    return;
  }
  Digest& digest = ring_[(first_ + count_) % ring_.size()];
  digest.filter = filter;
  digest.pipe = ingress_port / kPortsPerPipe;
  std::copy(fields.begin(), fields.end(), digest.fields.begin());
  ++count_;
}

void DigestQueue::pop() noexcept {
  first_ = (first_ + 1) % ring_.size();
  --count_;
}

}  // namespace turntable::dataplane
