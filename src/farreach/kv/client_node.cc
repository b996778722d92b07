#include "farreach/kv/client_node.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/clock.h"
#include "common/command_error.h"
#include "farreach/kv/open_raw_statistics.h"
#include "farreach/kv/raw_statistics.h"
#include "net/udp.h"

namespace turntable::kv {
namespace {

using Json = ClientNode::Json;

constexpr std::int64_t kMaxThreads = 64;
constexpr std::size_t kMaxRunning = 256;  // two histograms of 0.2 MiB each per thread
constexpr std::int64_t kMaxCopies = 10'000'000;
constexpr std::int64_t kMaxPieces = 65'536;
constexpr std::int64_t kMaxRampUs = 3600 * std::int64_t{1'000'000};

Variations variations_of(const Arguments& arguments) {
  const Json* given = arguments.object_or_null("variations");
  if (given == nullptr) return {};
  const Arguments fields("kvclient prepare, variations", *given,
                         {"delete_every", "large_every", "large_bytes"});
  Variations variations;
  variations.delete_every =
      static_cast<std::uint32_t>(fields.integer_or("delete_every", 0, UINT32_MAX, 0));
  variations.large_every =
      static_cast<std::uint32_t>(fields.integer_or("large_every", 0, UINT32_MAX, 0));
  if (variations.large_every > 0) {
    variations.large_bytes = static_cast<std::uint32_t>(
        fields.integer("large_bytes", kMaxValueBytes + 1, kMaxLargeValueBytes));
  }
  return variations;
}

}  // namespace

ClientNode::ClientNode(const net::DatagramSettings& datagrams,
                       std::optional<net::Credentials> credentials,
                       std::function<void(std::string)> set_state)
    : datagrams_(datagrams),
      credentials_(std::move(credentials)),
      life_("kvclient", std::move(set_state)) {}

ClientNode::Plan ClientNode::parse_plan(const Arguments& arguments, bool has_secret) {
  Plan plan;
  plan.workload = arguments.workload();
  plan.scale = arguments.scale();
  plan.partitions = arguments.partitions(plan.scale);
  if (plan.partitions.size() > kMaxRunning) {
    arguments.fail("partitions", plan.partitions.size(),
                   "at most " + std::to_string(kMaxRunning) + " running partitions");
  }
  const std::int64_t pieces = arguments.integer_or("pieces", 1, kMaxPieces, 1);
  const std::int64_t piece = arguments.integer_or("piece", 0, pieces - 1, 0);
  plan.begin = static_cast<double>(piece) / static_cast<double>(pieces);
  const std::int64_t all = plan.workload.clients;
  plan.first_client = static_cast<unsigned>(arguments.integer("first_client", 0, all - 1));
  plan.clients = static_cast<unsigned>(arguments.integer("clients", 1, all - plan.first_client));
  plan.threads = static_cast<unsigned>(arguments.integer_or(
      "threads", 1, std::min<std::int64_t>(kMaxThreads, plan.clients), std::min(2U, plan.clients)));
  if (plan.clients > plan.threads * ClientThread::kMaxClients) {
    arguments.fail("clients", plan.clients,
                   "at most " + std::to_string(ClientThread::kMaxClients) + " per thread");
  }
  const auto port = static_cast<std::uint16_t>(arguments.integer_or("server_port", 1, 65535, 1152));
  plan.server = net::parse_ipv4("kvclient prepare: \"server_address\"",
                                arguments.text("server_address"), port);
  plan.timeout_ns =
      arguments.integer_or("timeout_us", 100, 60 * std::int64_t{1'000'000}, 5'000'000) * 1000;
  plan.ramp_ns = arguments.integer_or("ramp_us", 0, kMaxRampUs, 0) * 1000;
  plan.variations = variations_of(arguments);
  plan.copies_max = static_cast<std::size_t>(arguments.integer_or("copies_max", 0, kMaxCopies, 0));
  plan.controller = arguments.controller_or_none(has_secret);
  if (plan.controller && plan.copies_max == 0) {
    arguments.fail("copies_max", 0, "at least 1 with a controller, which asks for copies");
  }
  plan.history = arguments.text_or("history", "");
  plan.hot_lists = hot_lists_of(arguments, plan.workload);
  plan.open = OpenPlan::parse(arguments, plan.workload);
  if (!plan.open) return plan;
  if (!plan.history.empty()) arguments.fail("history", plan.history, "none with open_loop");
  if (plan.ramp_ns != 0) arguments.fail("ramp_us", plan.ramp_ns / 1000, "none with open_loop");
  if (!plan.hot_lists.empty())
    arguments.fail("popularity", plan.hot_lists.size(), "none with open_loop");
  return plan;
}

Json ClientNode::prepare(const Json& args) {
  const Arguments arguments(
      "kvclient prepare", args,
      {"workload", "scale", "partitions", "first_client", "clients", "threads", "server_address",
       "server_port", "timeout_us", "ramp_us", "piece", "pieces", "variations", "copies_max",
       "controller", "history", "popularity", "open_loop"});
  const Plan plan = parse_plan(arguments, credentials_.has_value());

  const auto command = life_.begin_prepare([&] {
    link_.reset();
    open_.clear();
    clients_.clear();
    histories_.clear();
  });
  const std::int64_t begin = monotonic_ns();
  if (!traces_ || !traces_->are(plan.workload, plan.first_client, plan.clients)) {
    traces_.reset();
    traces_.emplace(plan.workload, plan.first_client, plan.clients, life_.cancelled());
  }
  const double trace_seconds = static_cast<double>(monotonic_ns() - begin) / 1e9;
  life_.prepared([&] {
    first_client_ = plan.first_client;
    replay_.emplace(*traces_, plan.scale, plan.partitions, plan.hot_lists, plan.begin);
    changes_.clear();
    open_threads(plan);
    connect(plan);
    std::vector<load::Part*> parts;
    for (const auto& client : clients_) parts.push_back(client.get());
    return parts;
  });
  return prepared_answer(trace_seconds);
}

void ClientNode::open_threads(const Plan& plan) {
  std::vector<std::unique_ptr<ClientPart>> opened;
  for (std::size_t i = 0; i < plan.threads; ++i) {
    opened.push_back(
        open_thread(plan, plan.clients * i / plan.threads, plan.clients * (i + 1) / plan.threads));
  }
  clients_ = std::move(opened);
  for (const auto& client : clients_)
    if (const auto* open = dynamic_cast<const OpenClient*>(client.get())) open_.push_back(open);
}

// For the clients from `begin` to `end`.
std::unique_ptr<ClientPart> ClientNode::open_thread(const Plan& plan, std::size_t begin,
                                                    std::size_t end) {
  const auto open = [&](net::DatagramSettings datagrams) {
    datagrams.kind = datagrams_.kind;
    datagrams.interface = datagrams_.interface;
    datagrams.local = datagrams_.local;
    datagrams.remote = plan.server;
    return net::open_datagrams(datagrams);
  };
  const std::size_t copies_max = plan.copies_max / plan.threads;
  if (plan.open) {
    const auto settings = plan.open->of_thread(
        {.first_client = begin, .clients = end - begin, .first_global_client = plan.first_client},
        plan.clients, plan.workload.value_bytes, copies_max);
    return std::make_unique<OpenClient>(settings, *replay_,
                                        open(OpenClient::datagrams_for(settings)));
  }
  const ClientThread::Settings settings{
      .first_client = begin,
      .clients = end - begin,
      .first_global_client = plan.first_client,
      .value_bytes = plan.workload.value_bytes,
      .timeout_ns = plan.timeout_ns,
      .ramp = {.length_ns = plan.ramp_ns,
               .clients = plan.workload.clients,
               .first = static_cast<std::uint32_t>(plan.first_client + begin)},
      .variations = plan.variations,
      .copies_max = copies_max,
      .history = open_history(plan, begin)};
  return std::make_unique<ClientThread>(settings, *replay_,
                                        open(ClientThread::datagrams_for(settings)));
}

void ClientNode::connect(const Plan& plan) {
  if (!plan.controller) return;
  std::vector<ClientPart*> clients;
  for (const auto& client : clients_) clients.push_back(client.get());
  link_.emplace(*plan.controller, *credentials_, std::move(clients));
}

HistoryLog* ClientNode::open_history(const Plan& plan, std::size_t first_client) {
  if (plan.history.empty()) return nullptr;
  std::error_code unwritable;  // the file cannot be created then
  std::filesystem::create_directories(plan.history, unwritable);
  const std::string file =
      "clients-" + std::to_string(plan.first_client + first_client) + ".ndjson";
  histories_.push_back(std::make_unique<HistoryLog>(std::filesystem::path(plan.history) / file));
  return histories_.back().get();
}

Json ClientNode::prepared_answer(double trace_seconds) const {
  return {{"operations", replay_->operations()},
          {"idle_clients", idle_clients()},
          {"threads", clients_.size()},
          {"receive_buffer_bytes", clients_.front()->buffer_bytes()},
          {"trace_seconds", trace_seconds}};
}

std::vector<unsigned> ClientNode::idle_clients() const {
  std::vector<unsigned> idle;
  for (std::size_t i = 0; i < replay_->clients(); ++i) {
    if (replay_->of(i).empty()) idle.push_back(first_client_ + static_cast<unsigned>(i));
  }
  return idle;
}

Json ClientNode::stats(const Json& args) {
  const Arguments arguments("kvclient stats", args, {});
  const auto lock = life_.lock();
  if (life_.running()) {
    std::int64_t answers = 0;
    for (const auto& client : clients_) answers += client->answers();
    return {{"running", true}, {"answers", answers}};
  }
  life_.require_finished("stats");
  return statistics();
}

Json ClientNode::popularity(const Json& args) {
  const auto lock = life_.lock();
  return changes_.begin(args, replay_ ? &*replay_ : nullptr);
}

Json ClientNode::statistics() {
  ClientStatistics sum = clients_.front()->statistics();
  std::vector<load::ThreadTiming> timings;
  std::uint32_t drops = 0;
  for (const auto& client : clients_) {
    if (client != clients_.front()) sum.merge(client->statistics());
    timings.push_back(client->timing());
    drops += client->drops();
  }
  Json raw = raw_statistics({.replay = *replay_,
                             .sum = sum,
                             .threads = timings,
                             .socket_drops = drops,
                             .idle_clients = idle_clients(),
                             .complete = !life_.stopped_early()});
  if (clients_.front()->copies().keeps()) {
    std::size_t kept = 0;
    std::uint64_t dropped = 0;
    for (const auto& client : clients_) {
      kept += client->copies().size();
      dropped += client->copies().dropped();
    }
    raw["copies"] = {{"kept", kept}, {"dropped", dropped}};
  }
  if (replay_->popularity() != nullptr) raw["popularity"] = changes_.begun();
  if (!open_.empty()) raw["open_loop"] = open_raw_statistics(*replay_, open_);
  if (link_) raw["controller"] = link_->statistics();
  if (!histories_.empty()) {
    std::uint64_t operations = 0;
    bool complete = true;
    for (const auto& history : histories_) {
      operations += history->operations();
      complete = complete && history->complete();
    }
    raw["history"] = {{"operations", operations}, {"complete", complete}};
  }
  return raw;
}

}  // namespace turntable::kv
