#include "kv/logical_server.h"

namespace turntable::kv {

LogicalServer::LogicalServer(const Settings& settings,
                             std::unique_ptr<StoreLibrary::WorkingCopy> copy,
                             std::function<void(const std::string&)> on_store_error)
    : settings_(settings),
      copy_(std::move(copy)),
      store_(copy_->directory(), settings.profile),
      socket_(open_udp(settings.address, 2 * settings.clients)),  // twice: room for retries
      handler_(store_, settings.partition, settings.scale, std::move(on_store_error)),
      worker_(socket_.get(), handler_, settings.capacity_ops_per_s),
      thread_([this] { worker_.run(); }) {}

LogicalServer::~LogicalServer() {
  worker_.stop();
  thread_.join();
}

void LogicalServer::set_window(std::int64_t from_monotonic_ns, std::int64_t until_monotonic_ns) {
  worker_.window().set(from_monotonic_ns, until_monotonic_ns);
}

nlohmann::json LogicalServer::statistics() const {
  const WorkerCounters& worker = worker_.counters();
  const HandlerCounters& handler = handler_.counters();
  return {{"partition", settings_.partition},
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
          {"store_seconds", static_cast<double>(worker.store_ns.get()) / 1e9},
          {"socket_drops", socket_drops(socket_.get())},
          {"receive_buffer_bytes", receive_buffer_bytes(socket_.get())},
          {"realtime_priority", worker.realtime.get() != 0}};
}

}  // namespace turntable::kv
