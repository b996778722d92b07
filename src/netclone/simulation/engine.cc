#include "netclone/simulation/engine.h"

#include "netclone/choices.h"

namespace turntable::netclone::simulation {
namespace {

std::int64_t middle(const Window& window) {
  return window.from_ns + (window.until_ns - window.from_ns) / 2;
}

}  // namespace

Engine::Engine(const Settings& settings, const Window& window, Result& result)
    : settings_(settings),
      window_(window),
      window_middle_ns_(middle(window)),
      result_(result),
      servers_(settings.servers()),
      reported_(settings.servers()),
      credits_(settings.laedge, settings.workers) {}

void Engine::run(Arrivals& arrivals) {
  const std::int64_t client_ns = settings_.delays.client_ns;
  const std::int64_t last_ns = window_.drain_until_ns - client_ns;
  while (!arrivals.empty() || !events_.empty()) {
    const bool next_is_event =
        !events_.empty() &&
        (arrivals.empty() || events_.first().at_ns <= arrivals.first().at_ns + client_ns);
    if (next_is_event) {
      if (events_.first().at_ns > last_ns) break;
      step(events_.first());
    } else {
      submit(arrivals.first());
      arrivals.pop();
    }
    ++result_.events;
  }
  result_.copies_in_flight = result_.copies - result_.copies_answered - result_.copies_dropped;
  result_.unanswered = result_.offered - result_.latency_ns.count();
}

void Engine::submit(const Arrival& arrival) {
  const bool in_window = window_.contains(arrival.at_ns);
  const Index request = requests_.add({.id = arrival.request,
                                       .intended_ns = arrival.at_ns,
                                       .copies = 0,
                                       .answered = false,
                                       .in_window = in_window});
  ++result_.requests;
  result_.offered += in_window ? 1 : 0;
  const std::int64_t at_ns = arrival.at_ns + settings_.delays.client_ns;
  const std::uint32_t servers = settings_.servers();
  switch (settings_.method) {
    case Method::kNoClone:
      return send(request, chosen_server(settings_.seed, arrival.request, servers), Clone::kNone,
                  at_ns);
    case Method::kCClone: {
      const auto [first, second] = chosen_servers(settings_.seed, arrival.request, servers);
      return send_both(request, first, second, at_ns, 0);
    }
    case Method::kLaedge:
      return send_by_coordinator(request, at_ns);
    case Method::kNetClone:
    case Method::kNetCloneRackSched:
      return send_by_switch(request, at_ns);
  }
}

// The reference §4.
void Engine::send_by_switch(Index request, std::int64_t at_ns) {
  const std::uint32_t servers = settings_.servers();
  const std::uint32_t group = chosen_group(settings_.seed, requests_[request].id, servers);
  const auto [first, second] = pair_of_group(group, servers);
  const std::uint32_t queue = reported_[first];
  const std::uint32_t other = reported_[second];
  if (queue == 0 && other == 0) {
    return send_both(request, first, second, at_ns, settings_.delays.recirculation_ns);
  }
  const bool to_second = settings_.method == Method::kNetCloneRackSched && queue > other;
  send(request, to_second ? second : first, Clone::kNone, at_ns);
}

void Engine::send_by_coordinator(Index request, std::int64_t at_ns) {
  const auto choice = credits_.choose(settings_.seed, requests_[request].id);
  if (choice.copies == 2) return send_both(request, choice.server[0], choice.server[1], at_ns, 0);
  if (choice.copies == 1) return send(request, choice.server[0], Clone::kNone, at_ns);
  coordinator_.push(request);
}

void Engine::send_both(Index request, std::uint32_t first, std::uint32_t second, std::int64_t at_ns,
                       std::int64_t second_later_ns) {
  if (requests_[request].in_window) ++result_.cloned;
  send(request, first, Clone::kOriginal, at_ns);
  send(request, second, Clone::kClone, at_ns + second_later_ns);
}

void Engine::send(Index request, std::uint32_t server, Clone clone, std::int64_t at_ns) {
  ++requests_[request].copies;
  ++result_.copies;
  const Index copy = copies_.add({.request = request,
                                  .server = server,
                                  .clone = clone,
                                  .stage = Stage::kToServer,
                                  .queue = 0,
                                  .all_busy = false});
  events_.push(event_at(at_ns + settings_.delays.server_ns[server], copy));
}

void Engine::step(const Event& event) {
  const Event taken = event;
  Copy& copy = copies_[taken.copy];
  switch (copy.stage) {
    case Stage::kToServer:
      return arrive(taken, copy);
    case Stage::kWorking:
      return finish(taken, copy);
    case Stage::kToSwitch:
      return pass_switch(taken, copy);
  }
}

void Engine::arrive(const Event& event, Copy& copy) {
  Server& server = servers_[copy.server];
  if (copy.clone == Clone::kClone && settings_.drop_clones && !server.fifo.empty()) {
    events_.pop();
    return drop(event.copy);
  }
  copy.stage = Stage::kWorking;
  if (server.busy < settings_.workers[copy.server]) {
    ++server.busy;
    events_.replace_first(event_at(event.at_ns + service_ns(copy), event.copy));
  } else {
    events_.pop();
    server.fifo.push(event.copy);
  }
}

void Engine::finish(const Event& event, Copy& copy) {
  Server& server = servers_[copy.server];
  copy.stage = Stage::kToSwitch;
  copy.queue = static_cast<std::uint32_t>(server.fifo.size());
  copy.all_busy = server.busy == settings_.workers[copy.server];
  events_.replace_first(
      event_at(event.at_ns + settings_.delays.server_ns[copy.server], event.copy));
  if (server.fifo.empty()) {
    --server.busy;
    return;
  }
  const Index next = server.fifo.pop();
  events_.push(event_at(event.at_ns + service_ns(copies_[next]), next));
}

void Engine::pass_switch(const Event& event, const Copy& copy) {
  events_.pop();
  Request& request = requests_[copy.request];
  const std::uint32_t server = copy.server;
  ++result_.copies_answered;
  report(copy, request);
  deliver(request, event.at_ns + settings_.delays.client_ns);
  release(event.copy);
  if (settings_.method != Method::kLaedge) return;
  credits_.answered(server);
  if (coordinator_.empty()) return;
  credits_.take(server);
  send(coordinator_.pop(), server, Clone::kNone, event.at_ns);
}

void Engine::drop(Index copy) {
  ++result_.copies_dropped;
  if (requests_[copies_[copy].request].in_window) ++result_.clones_dropped;
  release(copy);
}

void Engine::report(const Copy& copy, const Request& request) {
  reported_[copy.server] = copy.queue;
  if (!request.in_window) return;
  ++result_.reports;
  if (copy.queue > 0) return;
  ++result_.reports_empty;
  if (copy.all_busy) ++result_.reports_empty_all_busy;
}

void Engine::deliver(Request& request, std::int64_t at_ns) {
  if (request.answered) {
    if (!request.in_window) return;
    const bool stopped = settings_.method == Method::kLaedge ||
                         (clones_in_switch(settings_.method) && settings_.filter);
    ++(stopped ? result_.filtered : result_.redundant);
    return;
  }
  request.answered = true;
  ++result_.answered;
  if (window_.contains(at_ns)) ++result_.delivered;
  if (!request.in_window) return;
  const std::int64_t latency_ns = at_ns - request.intended_ns;
  result_.latency_ns.record(latency_ns);
  result_.half_latency_ns[request.intended_ns < window_middle_ns_ ? 0 : 1].record(latency_ns);
  for (Over& over : result_.over)
    if (latency_ns > over.ns) ++over.count;
}

void Engine::release(Index copy) {
  const Index request = copies_[copy].request;
  copies_.free.push_back(copy);
  if (--requests_[request].copies == 0) requests_.free.push_back(request);
}

std::int64_t Engine::service_ns(const Copy& copy) noexcept {
  const std::uint64_t request = requests_[copy.request].id;
  const std::uint32_t number = copy.clone == Clone::kClone ? 1 : 0;
  return settings_.service.service_ns(settings_.seed, request, number,
                                      settings_.mix.operation(settings_.seed, request),
                                      settings_.dilation);
}

}  // namespace turntable::netclone::simulation
