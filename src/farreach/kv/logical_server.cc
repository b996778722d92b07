#include "farreach/kv/logical_server.h"

#include <nlohmann/json.hpp>

#include "farreach/kv/farreach_handler.h"
#include "farreach/kv/netcache_handler.h"
#include "farreach/kv/nocache_handler.h"

namespace turntable::kv {
namespace {

net::SplitSockets open_sockets(const LogicalServer::Settings& settings) {
  const std::size_t requests = 2 * settings.clients;  // twice: room for retries
  const std::size_t datagrams =
      settings.large_values ? requests * fragments_of(kMaxLargeValueBytes) : requests;
  if (settings.method == Method::kNetCache) {
    return net::open_split_udp(settings.address, datagrams,
                               static_cast<std::uint16_t>(PacketType::kValueUpdateAck));
  }
  return {.all_else = net::open_udp(settings.address, datagrams), .of_type = {}};
}

}  // namespace

LogicalServer::LogicalServer(const Settings& settings,
                             std::unique_ptr<StoreLibrary::WorkingCopy> copy,
                             std::function<void(const std::string&)> on_store_error,
                             std::function<void()> wake)
    : settings_(settings),
      copy_(std::move(copy)),
      store_(copy_->directory(), settings.profile),
      sockets_(open_sockets(settings)),
      handler_(make_handler(std::move(on_store_error), std::move(wake))),
      worker_(sockets_.all_else.get(), *handler_,
              {.capacity_ops_per_s = settings.capacity_ops_per_s,
               .clients = settings.clients,
               .large_values = settings.large_values}),
      thread_([this] { worker_.run(); }) {}

std::unique_ptr<RequestHandler> LogicalServer::make_handler(
    RequestHandler::StoreErrors on_store_error, std::function<void()> wake) {
  const auto& [partition, scale] = std::tie(settings_.partition, settings_.scale);
  if (settings_.method == Method::kNoCache) {
    return std::make_unique<NoCacheHandler>(store_, partition, scale, std::move(on_store_error));
  }
  records_.emplace(store_, copy_->is_fresh());
  keys_.emplace(CachedKeys::Settings{.holds_writes = settings_.method == Method::kNetCache,
                                     .is_controlled = settings_.is_controlled},
                std::move(wake));
  if (settings_.method == Method::kFarReach) {
    return std::make_unique<FarReachHandler>(*records_, *keys_, partition, scale,
                                             std::move(on_store_error));
  }
  updates_.emplace(sockets_.of_type.get(),
                   ValueUpdates::Settings{.delay_ns = settings_.value_update_delay_ns});
  return std::make_unique<NetCacheHandler>(*records_, *updates_, *keys_, partition, scale,
                                           std::move(on_store_error));
}

LogicalServer::~LogicalServer() {
  worker_.stop();
  thread_.join();
}

void LogicalServer::set_window(std::int64_t from_monotonic_ns, std::int64_t until_monotonic_ns) {
  worker_.window().set(from_monotonic_ns, until_monotonic_ns);
}

ControllerLink::Server LogicalServer::controlled() {
  return {.partition = settings_.partition,
          .store = copy_->incarnation(),
          .records = &*records_,
          .keys = &*keys_};
}

nlohmann::json LogicalServer::statistics() const {
  const WorkerCounters& worker = worker_.counters();
  const HandlerCounters& handler = handler_->counters();
  nlohmann::json row = {
      {"partition", settings_.partition},
      {"udp_port", ntohs(settings_.address.sin_port)},
      {"served_total", worker.served_total.get()},
      {"served_in_window", worker.served_in_window.get()},
      {"busy_in_window_ns", worker.busy_in_window_ns.get()},
      {"reads", handler.reads.get()},
      {"writes", handler.writes.get()},
      {"deletes", handler.deletes.get()},
      {"not_found", handler.not_found.get()},
      {"misrouted", handler.misrouted.get()},
      {"malformed", worker.malformed.get()},
      {"store_errors", handler.store_errors.get()},
      {"receive_errors", worker.receive_errors.get()},
      {"send_errors", worker.send_errors.get()},
      {"late_max_us", static_cast<double>(worker.late_max_ns.get()) / 1e3},
      {"forgiven_us", static_cast<double>(worker.lost_ns.get()) / 1e3},
      {"blocked_us", static_cast<double>(worker.blocked_ns.get()) / 1e3},
      {"held_back_us", static_cast<double>(worker.held_back_ns.get()) / 1e3},
      {"held_back_in_window_ns", worker.held_back_in_window_ns.get()},
      {"store_seconds", static_cast<double>(worker.store_ns.get()) / 1e9},
      {"socket_drops", net::socket_drops(sockets_.all_else.get())},
      {"receive_buffer_bytes", net::receive_buffer_bytes(sockets_.all_else.get())},
      {"realtime_priority", worker.realtime.get() != 0}};
  row.update(handler_->method_statistics());
  if (settings_.large_values) {
    const ReassemblyCounters& large = worker_.large_values();
    row["large_values"] = {{"completed", large.completed.get()},
                           {"evicted", large.evicted.get()},
                           {"duplicates", large.duplicates.get()},
                           {"mismatched", large.mismatched.get()}};
  }
  return row;
}

}  // namespace turntable::kv
