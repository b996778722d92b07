#include "netclone/client/client_node.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "netclone/client/raw_statistics.h"
#include "netclone/client/replay.h"
#include "node/arguments.h"

namespace turntable::netclone {
namespace {

using Json = ClientNode::Json;

constexpr std::size_t kQueued = 4096;  // datagrams that wait to be read

}  // namespace

class ClientNode::Client final : public load::Part {
 public:
  Client(const Plan& plan, std::uint16_t index, std::unique_ptr<net::Datagrams> datagrams)
      : index_(index),
        gap_(plan.gap(index)),
        thread_(load::OpenLoop(plan.loop),
                Codec(plan.traffic, index, monotonic_ns(), -realtime_to_monotonic_ns(),
                      plan.work ? CreditDelays(*plan.work) : CreditDelays()),
                std::move(datagrams), plan.frame) {}

  void set_schedule(const load::Schedule& schedule) override {
    try {
      thread_.set_schedule(schedule, gap_);
    } catch (const std::length_error& error) {
      throw bad_argument(std::string("rpcclient start: ") + error.what());
    }
  }
  void run() override { thread_.run(); }
  void stop() noexcept override { thread_.stop(); }

  std::uint16_t index() const { return index_; }
  ClientThread& thread() { return thread_; }

 private:
  std::uint16_t index_;
  load::Gap gap_;
  ClientThread thread_;
};

ClientNode::ClientNode(Settings settings, std::function<void(std::string)> set_state)
    : settings_(std::move(settings)), life_("rpcclient", std::move(set_state)) {}

ClientNode::~ClientNode() = default;

Json ClientNode::prepare(const Json& args) {
  const std::string where = "rpcclient prepare";
  Plan plan = Plan::parse(where, args);
  const auto command = life_.begin_prepare([&] {
    clients_.clear();
    plan_.reset();
    path_ = {};
  });
  plan_ = std::move(plan);
  std::vector<std::unique_ptr<Client>> opened;
  for (std::size_t i = 0; i < plan_->clients.size(); ++i) opened.push_back(open(i));
  if (plan_->probes > 0) {
    path_ = probe_path(where, plan_->traffic,
                       {.client = plan_->clients.front(),
                        .per_server = plan_->probes,
                        .deadline_ns = plan_->probe_deadline_ns},
                       opened.front()->thread().datagrams());
  }
  life_.prepared([&] {
    clients_ = std::move(opened);
    std::vector<load::Part*> parts;
    for (const auto& client : clients_) parts.push_back(client.get());
    return parts;
  });
  return prepared_answer();
}

std::unique_ptr<ClientNode::Client> ClientNode::open(std::size_t index) const {
  net::DatagramSettings settings = settings_.base;
  settings.local.sin_port = htons(static_cast<std::uint16_t>(
      ntohs(settings.local.sin_port) + (settings.local.sin_port == 0 ? 0 : index)));
  settings.queued = kQueued;
  return std::make_unique<Client>(*plan_, plan_->clients[index], net::open_datagrams(settings));
}

Json ClientNode::prepared_answer() const {
  double rate_per_s = 0;
  for (const auto& client : clients_)
    rate_per_s += plan_->arrivals(client->index()).mean_rate_per_s();
  return {{"clients", clients_.size()},
          {"path_delay_ns", plan_->probes > 0 ? Json(path_.median_ns) : Json()},
          {"path_delay_by_server_ns", path_.by_server_ns},
          {"mean_rate_per_s", rate_per_s},
          {"receive_buffer_bytes", clients_.front()->thread().datagrams().buffer_bytes()}};
}

Json ClientNode::stats(const Json& args) {
  const node::Arguments arguments("rpcclient stats", args, {});
  const auto lock = life_.lock();
  if (life_.running()) return {{"running", true}};
  life_.require_finished("stats");
  std::vector<ClientResult> results;
  for (const auto& client : clients_)
    results.push_back({.index = client->index(), .thread = client->thread()});
  Json raw = raw_statistics(results, life_.schedule(), !life_.stopped_early());
  raw["method"] = method_name(plan_->traffic.method);
  raw["path_delay_ns"] = plan_->probes > 0 ? Json(path_.median_ns) : Json();
  raw["path_delay_by_server_ns"] = path_.by_server_ns;
  if (plan_->traffic.method == Method::kLaedge) {
    raw["credit_delay_by_server_ns"] = Json::array();
    for (const auto mean : credit_delays().means_ns())
      raw["credit_delay_by_server_ns"].push_back(mean ? Json(*mean) : Json());
  }
  raw["latencies"] = latency_files();
  return raw;
}

CreditDelays ClientNode::credit_delays() const {
  CreditDelays all;
  for (const auto& client : clients_) all.merge(client->thread().codec().credit_delays());
  return all;
}

// int64, little-endian as all machines that this runs on.
Json ClientNode::latency_files() const {
  if (!plan_->loop.record_latencies) return {};
  Json files = Json::array();
  for (const auto& client : clients_) {
    const std::string path = settings_.directory + "/" + settings_.name + "-latencies-" +
                             std::to_string(client->index()) + ".i64";
    const auto& latencies = client->thread().loop().latencies_ns();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(latencies.data()),
               static_cast<std::streamsize>(latencies.size() * sizeof latencies.front()));
    if (!file.flush()) {
      throw CommandError("unavailable", "rpcclient stats: " + path +
                                            " cannot be written; expected room in the directory");
    }
    files.push_back({{"client", client->index()}, {"file", path}, {"count", latencies.size()}});
  }
  return files;
}

Json ClientNode::replay(const Json& args) {
  const node::Arguments arguments("rpcclient replay", args, {});
  load::Schedule schedule;
  Plan plan;
  PathDelay path;
  CreditDelays credits;
  {
    const auto lock = life_.lock();
    life_.require_finished("replay");
    schedule = life_.schedule();
    plan = *plan_;
    path = path_;
    credits = credit_delays();
  }
  return replay_iteration("rpcclient replay", plan, schedule, path, credits);
}

}  // namespace turntable::netclone
