#include "netclone/coordinator/coordinator.h"

#include <algorithm>
#include <numeric>

namespace turntable::netclone {

Coordinator::Counts Coordinator::Counts::operator-(const Counts& earlier) const {
  return {.requests = requests - earlier.requests,
          .cloned = cloned - earlier.cloned,
          .single = single - earlier.single,
          .waited = waited - earlier.waited,
          .queue_full = queue_full - earlier.queue_full,
          .forwarded = forwarded - earlier.forwarded,
          .redundant = redundant - earlier.redundant,
          .unknown = unknown - earlier.unknown,
          .given_up = given_up - earlier.given_up};
}

// Every request under way holds a credit, so there are never more of them than credits.
Coordinator::Coordinator(const Settings& settings)
    : settings_(settings),
      credits_(settings.mode, settings.workers),
      tickets_(std::accumulate(settings.workers.begin(), settings.workers.end(), std::size_t{0})) {
  for (std::size_t i = tickets_.size(); i > 0; --i)
    free_.push_back(static_cast<std::uint32_t>(i - 1));
}

Coordinator::Sendings Coordinator::request(const Packet& packet, std::int64_t now_ns) {
  ++counts_.requests;
  if (const auto choice = credits_.choose(settings_.seed, packet.request); choice.copies > 0)
    return send(packet, choice, now_ns);
  if (queue_.size() >= settings_.queue_max) {
    ++counts_.queue_full;
    return {};
  }
  ++counts_.waited;
  queue_.push({packet, now_ns});
  return {};
}

Coordinator::Sendings Coordinator::send(const Packet& packet, const LaedgeCredits::Choice& choice,
                                        std::int64_t now_ns) noexcept {
  ++(choice.copies == 2 ? counts_.cloned : counts_.single);
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Ticket& ticket = tickets_[index];
  ticket = {.generation = ticket.generation + 1, .request = packet.request, .sent_ns = now_ns};
  Sendings sendings;
  for (unsigned copy = 0; copy < choice.copies; ++copy) {
    ticket.server[copy] = choice.server[copy];
    ticket.open[copy] = true;
    Sending& sending = sendings.copies[sendings.count++];
    sending = {.server = choice.server[copy], .packet = packet};
    sending.packet.group = index;
    sending.packet.seq = ticket.generation;
    sending.packet.clone = choice.copies == 1 ? Clone::kNone
                           : copy == 0        ? Clone::kOriginal
                                              : Clone::kClone;
  }
  return sendings;
}

Coordinator::Handled Coordinator::answer(const Packet& packet, std::int64_t now_ns) noexcept {
  const std::uint32_t index = packet.group;
  const unsigned copy = packet.copy();
  if (index >= tickets_.size() || tickets_[index].generation != packet.seq ||
      tickets_[index].request != packet.request || !tickets_[index].open[copy] ||
      tickets_[index].server[copy] != packet.server) {
    ++counts_.unknown;
    return {.answer = Answer::kUnknown, .next = {}};
  }
  const bool first = !tickets_[index].answered;
  tickets_[index].answered = true;
  ++(first ? counts_.forwarded : counts_.redundant);
  const std::int64_t credit_ns = now_ns - tickets_[index].sent_ns;
  close(index, copy);
  return {.answer = first ? Answer::kForward : Answer::kRedundant,
          .next = make_room(packet.server, now_ns),
          .credit_ns = credit_ns};
}

void Coordinator::close(std::uint32_t index, unsigned copy) noexcept {
  Ticket& ticket = tickets_[index];
  ticket.open[copy] = false;
  if (!ticket.open[0] && !ticket.open[1]) free_.push_back(index);
}

// Requests wait only while no server is idle, so the server that has answered is the only one.
Coordinator::Sendings Coordinator::make_room(std::uint32_t server, std::int64_t now_ns) noexcept {
  credits_.answered(server);
  if (queue_.empty()) return {};
  credits_.take(server);
  const Waiting next = queue_.pop();
  Sendings sendings = send(next.packet, {.copies = 1, .server = {server}}, now_ns);
  sendings.waited_ns = now_ns - next.since_ns;
  return sendings;
}

std::optional<Coordinator::Sendings> Coordinator::give_up(std::int64_t now_ns) noexcept {
  for (std::uint32_t index = 0; index < tickets_.size(); ++index) {
    const Ticket& ticket = tickets_[index];
    if (ticket.sent_ns > now_ns - settings_.give_up_ns) continue;
    for (unsigned copy = 0; copy < 2; ++copy) {
      if (!ticket.open[copy]) continue;
      ++counts_.given_up;
      const std::uint32_t server = ticket.server[copy];
      close(index, copy);
      return make_room(server, now_ns);
    }
  }
  return std::nullopt;
}

}  // namespace turntable::netclone
