#include "netclone/client/credit_delays.h"

namespace turntable::netclone {

void CreditDelays::note(const Packet& answer) noexcept {
  if (!work_ || answer.seq == kCreditTooLong || answer.server >= servers_.size()) return;
  const std::int64_t worked_ns = work_->service.service_ns(
      work_->seed, answer.request, answer.copy(), answer.operation, work_->dilation);
  Server& server = servers_[answer.server];
  ++server.answers;
  server.sum_ns += std::int64_t{answer.seq} - worked_ns;
}

void CreditDelays::merge(const CreditDelays& other) {
  if (servers_.size() < other.servers_.size()) servers_.resize(other.servers_.size());
  for (std::size_t i = 0; i < other.servers_.size(); ++i) {
    servers_[i].answers += other.servers_[i].answers;
    servers_[i].sum_ns += other.servers_[i].sum_ns;
  }
}

std::vector<std::optional<std::int64_t>> CreditDelays::means_ns() const {
  std::vector<std::optional<std::int64_t>> means;
  for (const Server& server : servers_) {
    means.push_back(server.answers > 0 ? std::optional(server.sum_ns / server.answers)
                                       : std::nullopt);
  }
  return means;
}

}  // namespace turntable::netclone
