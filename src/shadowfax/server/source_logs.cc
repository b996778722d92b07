#include "shadowfax/server/source_logs.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "shadowfax/server/fetched_record.h"
#include "shadowfax/server/peer_limits.h"
#include "shadowfax/server/stoppable_pause.h"

namespace turntable::shadowfax {
namespace {

using Found = hybridlog::OtherLogs::Found;

constexpr std::size_t kMostQuestions = 256;  // in a message

}  // namespace

void SourceLogs::end() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    for (auto& [source, line] : lines_) line.thread.request_stop();
  }
  for (auto& [source, line] : lines_)
    if (line.thread.joinable()) line.thread.join();
}

void SourceLogs::note_begin(std::uint64_t migration, hybridlog::Address begin) {
  const std::lock_guard lock(mutex_);
  begins_[migration] = begin;
}

std::shared_ptr<SourceLogs::Ticket> SourceLogs::read(const hybridlog::Indirection& at,
                                                     std::uint64_t key) {
  auto ticket = std::make_shared<Ticket>(at, key);
  const std::lock_guard lock(mutex_);
  if (has_ended_) {
    ticket->finish(Found::kError);
    return ticket;
  }
  Line& line = lines_[at.log];
  if (line.is_gone() && (!line.under_way.empty() || !line.look_again.passed())) {
    ticket->finish(Found::kError);
    return ticket;
  }
  line.waiting.push_back(ticket);
  if (!line.thread.joinable()) {
    line.thread = std::jthread(
        [this, source = at.log, &line](const std::stop_token& stop) { work(source, line, stop); });
  }
  line.changed.notify_one();
  return ticket;
}

bool SourceLogs::are_silent(std::chrono::nanoseconds since) const {
  const std::int64_t now_ns = monotonic_ns();
  const std::lock_guard lock(mutex_);
  // The line has a ticket, and so has its thread.
  const auto is_wanted = [](const auto& ticket) { return ticket.use_count() > 2; };
  return std::ranges::any_of(lines_, [&](const auto& each) {
    return !each.second.is_gone() && now_ns - each.second.asked_ns > since.count() &&
           std::ranges::any_of(each.second.under_way, is_wanted);
  });
}

// Questions that are not answered are the first ones of the next message.
void SourceLogs::work(ServerNumber source, Line& line, const std::stop_token& stop) {
  std::unique_ptr<Asking> server;
  std::unique_lock lock(mutex_);
  const auto is_asked = [&] { return !line.waiting.empty(); };
  while (line.changed.wait(lock, stop, is_asked) && !stop.stop_requested()) {
    Tickets tickets = next_of_a_migration(line);
    line.under_way = tickets;
    line.asked_ns = monotonic_ns();
    if (!line.gone) line.gone = Deadline::after(place_.gone_time);
    const Deadline deadline = line.is_gone() ? Deadline::after_seconds(kLookSeconds) : *line.gone;
    lock.unlock();
    place_.at_step("fetch");
    const auto answer = ask(source, server, tickets, deadline, stop);
    if (answer) {
      place_.at_step("fetched");
      deliver(answer->records, tickets);
    }
    lock.lock();
    line.under_way.clear();
    line.waiting.insert(line.waiting.begin(), tickets.begin(), tickets.end());
    if (answer) {
      line.gone.reset();
    } else {
      end_all(line);  // it is gone, or this server is ending
      line.look_again = Deadline::after(place_.between_looks);
    }
  }
  end_all(line);
}

void SourceLogs::end_all(Line& line) {
  for (const auto& ticket : std::exchange(line.waiting, {})) ticket->finish(Found::kError);
}

// Those that were asked for first, of one migration.
SourceLogs::Tickets SourceLogs::next_of_a_migration(Line& line) {
  const std::uint64_t migration = line.waiting.front()->indirection.migration;
  Tickets next;
  while (!line.waiting.empty() && next.size() < kMostQuestions &&
         line.waiting.front()->indirection.migration == migration) {
    next.push_back(std::move(line.waiting.front()));
    line.waiting.pop_front();
  }
  return next;
}

// Until it has answered: it may be killed and begun again, at another place. Nothing: at the
// deadline, and when it was stopped.
std::optional<Asking::Answer> SourceLogs::ask(ServerNumber source, std::unique_ptr<Asking>& server,
                                              const Tickets& tickets, Deadline deadline,
                                              const std::stop_token& stop) {
  std::vector<std::uint8_t> questions;
  for (const auto& ticket : tickets)
    append(questions, FetchQuestion{ticket->indirection.address, ticket->key});
  hybridlog::Address begin = 0;
  {
    const std::lock_guard lock(mutex_);
    begin = begins_[tickets.front()->indirection.migration];
  }
  while (!stop.stop_requested() && !deadline.passed()) {
    try {
      if (!server) server = place_.connect(source);
      return server->ask_patiently(ClusterMessageType::kFetch, {{"begin", begin}}, questions,
                                   kLookSeconds, stop, deadline);
    } catch (const std::exception&) {
      server.reset();
      pause(kPause, stop);
    }
  }
  return std::nullopt;
}

// Takes those away that have an answer.
void SourceLogs::deliver(const std::vector<std::uint8_t>& answers, Tickets& tickets) {
  hybridlog::Bytes rest = std::as_bytes(std::span(answers));
  while (!tickets.empty()) {
    const std::optional<FetchAnswer> answer = next_fetch_answer(rest);
    if (!answer) return;
    tickets.front()->value.assign(answer->value);
    tickets.front()->finish(answer->found);
    tickets.pop_front();
    answered_.fetch_add(1);
    rest = rest.subspan(answer->bytes());
  }
}

}  // namespace turntable::shadowfax
