#include "shadowfax/server/server_node.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "hybridlog/device_rate.h"
#include "net/ipv4.h"
#include "node/arguments.h"
#include "node/measured_window.h"
#include "shadowfax/server/value_sum.h"

namespace turntable::shadowfax {
namespace {

using Json = ServerNode::Json;
using node::Arguments;

constexpr int kFormat = 1;
constexpr std::int64_t kMaxWorkers = 1024;
constexpr std::int64_t kMaxReaders = 1024;
constexpr std::int64_t kMaxPages = std::int64_t{1} << 32U;
constexpr std::int64_t kMaxLogBytes = std::int64_t{1} << 48U;
constexpr std::int64_t kMaxPending = 1'000'000;
constexpr std::int64_t kMaxKeys = 1'000'000'000'000;
constexpr std::int64_t kMaxCpu = 1023;
constexpr std::int64_t kMostIndexBits = 40;
constexpr std::int64_t kMostSplits = std::int64_t{1} << 20U;
constexpr double kMaxSpinUs = 1e9;
constexpr double kMaxDeadlineS = 24 * 3600;
constexpr double kMaxCapacity = 1e9;
constexpr double kMaxCheckpointS = 1e6;
constexpr std::int64_t kMaxNumber = 100'000;
constexpr double kMigrationBeginsS = 30, kMostSampleS = 3600;
constexpr std::size_t kOwnThreads = 1;  // of the store, beside the workers': sums() has one

// {"number", "metadata", "checkpoint", "checkpoint_s"}: of a server of a cluster.
void add_cluster(StoreServer::Settings& settings, const std::string& where, const Json& given,
                 const CredentialsFor& credentials) {
  const Arguments cluster(where + ", cluster", given,
                          {"number", "metadata", "checkpoint", "checkpoint_s"});
  if (!credentials)
    cluster.fail("metadata", given["metadata"], "--secret FILE when the node is begun");
  settings.checkpoints = {.file = cluster.text("checkpoint"),
                          .interval = std::chrono::nanoseconds(static_cast<std::int64_t>(
                              cluster.number("checkpoint_s", 0.001, kMaxCheckpointS) * 1e9))};
  settings.cluster = {
      .number = static_cast<ServerNumber>(cluster.integer("number", 0, kMaxNumber)),
      .metadata = net::parse_endpoint(where + ": metadata", cluster.text("metadata")),
      .credentials = credentials};
}

// Null: never.
std::optional<std::uint64_t> compact_above_bytes(const Json& args, const Arguments& arguments) {
  constexpr const char* kName = "compact_above_bytes";
  if (!args.contains(kName) || args.at(kName).is_null()) return std::nullopt;
  return static_cast<std::uint64_t>(arguments.integer(kName, 1, kMaxLogBytes));
}

RangeCheckSettings range_check(const Arguments& arguments) {
  const std::string word = arguments.text("range_check");
  const std::optional<RangeCheckKind> kind = range_check_of(word);
  if (!kind) arguments.fail("range_check", word, "view, lock or splits");
  return {.kind = *kind,
          .splits = static_cast<std::size_t>(arguments.integer("splits", 1, kMostSplits))};
}

StoreServer::Settings settings_of(const std::string& address, const Arguments& arguments) {
  StoreServer::Settings settings;
  settings.store = {
      .index_buckets = std::size_t{1} << arguments.integer("index_bits", 0, kMostIndexBits),
      .log = {.page_bits = static_cast<unsigned>(arguments.integer("page_bits", 12, 30)),
              .pages = static_cast<std::size_t>(arguments.integer("pages", 1, kMaxPages)),
              .mutable_share = arguments.number("mutable_share", 0, 1)},
      .threads = kOwnThreads,
      .reader_threads =
          static_cast<std::size_t>(arguments.integer("reader_threads", 1, kMaxReaders))};
  settings.store.uses_uring = arguments.boolean("uses_uring");
  settings.file = arguments.text("file");
  settings.range_check = range_check(arguments);
  settings.worker = {
      .address = address,
      .port = kBasePort,
      .most_pending = static_cast<std::size_t>(arguments.integer("most_pending", 0, kMaxPending)),
      .spin = std::chrono::nanoseconds(
          static_cast<std::int64_t>(arguments.number("spin_us", 0, kMaxSpinUs) * 1e3))};
  settings.workers = static_cast<unsigned>(arguments.integer("workers", 1, kMaxWorkers));
  // Of the server: every worker has its part.
  settings.worker.capacity_per_s =
      arguments.number("capacity_per_s", 0, kMaxCapacity) / settings.workers;
  if (!arguments.array_or_empty("cpus").empty()) {
    for (const std::int64_t cpu : arguments.integers("cpus", 0, kMaxCpu))
      settings.cpus.push_back(static_cast<int>(cpu));
  }
  return settings;
}

// Since the workers began, by reason.
Json refused_openings(const StoreServer::Readings& workers) {
  Json counts = Json::object();
  for (std::size_t reason = 0; reason < kRefusalNames.size(); ++reason) {
    std::int64_t all = 0;
    for (const WorkerReading& worker : workers) all += worker.refused_openings[reason];
    counts[kRefusalNames[reason]] = all;
  }
  return counts;
}

Json worker_row(const WorkerReading& begin, const WorkerReading& end) {
  Json row = {{"operations", end.operations - begin.operations},
              {"batches", end.batches - begin.batches},
              {"refused_batches", end.refused_batches - begin.refused_batches},
              {"pending", end.pending - begin.pending},
              {"sessions", end.sessions},
              {"cpu_ns", end.cpu_ns - begin.cpu_ns},
              {"waited_ns", nullptr}};
  if (begin.waited_ns && end.waited_ns) row["waited_ns"] = *end.waited_ns - *begin.waited_ns;
  return row;
}

}  // namespace

ServerNode::ServerNode(std::string address, std::function<void(std::string)> set_state,
                       CredentialsFor credentials)
    : address_(std::move(address)),
      set_state_(std::move(set_state)),
      credentials_(std::move(credentials)) {}

Json ServerNode::prepare(const Json& args) {
  const std::string where = "hlserver-node prepare";
  const Arguments arguments(
      where, args,
      {"workers", "cpus", "index_bits", "page_bits", "pages", "mutable_share", "reader_threads",
       "most_pending", "spin_us", "capacity_per_s", "file", "cluster", "compact_above_bytes",
       "range_check", "splits", "uses_uring"});
  StoreServer::Settings settings = settings_of(address_, arguments);
  if (const Json* const cluster = arguments.object_or_null("cluster"))
    add_cluster(settings, where, *cluster, credentials_);
  settings.compact_above_bytes = compact_above_bytes(args, arguments);
  if (credentials_) settings.worker.secret = credentials_("batches").secret();
  const std::lock_guard lock(mutex_);
  close();
  try {
    std::filesystem::remove(settings.file);
    if (settings.checkpoints) std::filesystem::remove(settings.checkpoints->file);
    server_.emplace(settings);
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ": " + error.what());
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  }
  memory_bytes_ = settings.store.log.pages << settings.store.log.page_bits;
  reader_threads_ = settings.store.reader_threads;
  set_state_("serving");
  return {{"ports", server_->ports()}, {"direct", server_->store().device().is_direct()}};
}

Json ServerNode::start(const Json& args) {
  const Arguments arguments("hlserver-node start", args, {"measure_from_ns", "measure_until_ns"});
  const node::MeasuredWindow window = node::measured_window(arguments);
  const std::lock_guard lock(mutex_);
  require_serving("start");
  const std::int64_t offset = realtime_to_monotonic_ns();
  sampler_.emplace(
      window.from_ns + offset, window.until_ns + offset,
      [this] {
        return Sample{.at_ns = monotonic_ns(),
                      .workers = server_->read(),
                      .device_reads = server_->store().device().traffic().reads};
      },
      WindowSampler::Options{.program = "hlserver-node", .realtime = true});
  return Json::object();
}

Json ServerNode::migrate(const Json& args) {
  const Arguments arguments("hlserver-node migrate", args,
                            {"to", "share", "sample_s", "indirection"});
  const auto to = static_cast<ServerNumber>(arguments.integer("to", 0, kMaxNumber));
  const double share = arguments.number("share", 0, 1);
  const double sample_s = arguments.number("sample_s", 0, kMostSampleS);
  const bool indirection = arguments.boolean("indirection");
  // Others' commands do not wait for it: one of them may end the server.
  const auto begin = [&] {
    const std::lock_guard lock(mutex_);
    require_serving("migrate");
    return require_member("migrate").begin_to_migrate(to, share, sample_s, indirection);
  };
  try {
    const auto deadline = Deadline::after_seconds(kMigrationBeginsS);
    return {{"id", ClusterMember::id_when_begun(begin(), deadline)}};
  } catch (const CommandError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", std::string("hlserver-node migrate: ") + error.what());
  }
}

ClusterMember& ServerNode::require_member(const char* command) {
  if (ClusterMember* const member = server_->member()) return *member;
  throw CommandError("wrong_state", std::string("hlserver-node ") + command +
                                        ": it is no server of a cluster; send `prepare` with one");
}

Json ServerNode::sums(const Json& args) {
  const std::string where = "hlserver-node sums";
  const Arguments arguments(where, args, {"keys", "deadline_s"});
  const bool has_other_keys = args.contains("keys") && args.at("keys").is_null();
  const std::uint64_t keys =
      has_other_keys ? 0 : static_cast<std::uint64_t>(arguments.integer("keys", 1, kMaxKeys));
  const double deadline_s = arguments.number("deadline_s", 0.001, kMaxDeadlineS);
  const std::lock_guard lock(mutex_);
  require_serving("sums");
  hybridlog::Store& store = server_->store();
  std::function<bool(std::uint64_t)> own = [](std::uint64_t) { return true; };
  if (ClusterMember* const member = server_->member()) {
    own = [view = member->served(), number = member->number()](std::uint64_t key) {
      return view.owner_of(hybridlog::hash_of(key)) == number;
    };
  }
  const std::int64_t deadline_ns = monotonic_ns() + static_cast<std::int64_t>(deadline_s * 1e9);
  try {
    // Keys that are in another server's log alone.
    if (ClusterMember* const member = server_->member(); has_other_keys && member != nullptr)
      member->resolve(Deadline::after_seconds(deadline_s));
    const std::vector<std::uint64_t> others =
        has_other_keys ? keys_of(store) : std::vector<std::uint64_t>();
    ValueSum sum(store, deadline_ns);
    const auto add = [&](std::uint64_t key) {
      if (own(key)) sum.add(key);
    };
    for (std::uint64_t key = 0; key < keys; ++key) add(key);
    std::ranges::for_each(others, add);
    return sum.result();
  } catch (const std::system_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  } catch (const NoAnswer& error) {
    throw CommandError("timeout", where + ": " + error.what());
  }
}

// What the device gives without a store.
Json ServerNode::device_reads(const Json& args) {
  const std::string where = "hlserver-node device_reads";
  const Arguments arguments(where, args, {"seconds"});
  const double seconds = arguments.number("seconds", 0.001, kMaxDeadlineS);
  const std::lock_guard lock(mutex_);
  require_serving("device_reads");
  hybridlog::Store& store = server_->store();
  const hybridlog::Address begin = store.log().begin(), head = store.log().head();
  Json rate;  // null: all records are in memory
  if (head >= begin + 2 * hybridlog::Device::kSectorBytes) {
    try {
      rate = hybridlog::random_reads_per_s(
          store.device(), begin, head, reader_threads_,
          std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
    } catch (const std::system_error& error) {
      throw CommandError("unavailable", where + ": " + error.what());
    }
  }
  return {{"threads", reader_threads_}, {"reads_per_s", rate}};
}

Json ServerNode::stats(const Json& args) {
  const Arguments arguments("hlserver-node stats", args, {});
  const std::lock_guard lock(mutex_);
  require_serving("stats");
  const auto window = sampler_ ? sampler_->window() : std::nullopt;
  if (!window) {
    throw CommandError("wrong_state",
                       "hlserver-node stats: no window is over; send `start` and wait for its end");
  }
  Json workers = Json::array();
  for (std::size_t i = 0; i < window->end.workers.size(); ++i)
    workers.push_back(worker_row(window->begin.workers[i], window->end.workers[i]));
  hybridlog::Log& log = server_->store().log();
  const hybridlog::Device& device = server_->store().device();
  Json cluster;
  if (ClusterMember* const member = server_->member()) {
    cluster = member->status();
    cluster.erase("departure");
    cluster["departures"] = member->departures();
  }
  const Checkpointer::Counts checkpoints = server_->checkpoints();
  const IndexWriter::Counts indexes = server_->indexes();
  const Compactor::Counts compactions = server_->compactions();
  return {{"format", kFormat},
          {"cluster", cluster},
          {"checkpoints", {{"made", checkpoints.made}, {"failed", checkpoints.failed}}},
          {"indexes", {{"written", indexes.written}, {"failed", indexes.failed}}},
          {"window_ns", window->end.at_ns - window->begin.at_ns},
          {"workers", workers},
          {"refused_openings", refused_openings(window->end.workers)},
          {"log",
           {{"begin", log.begin()},
            {"head", log.head()},
            {"read_only", log.read_only()},
            {"tail", log.tail()},
            {"memory_bytes", memory_bytes_},
            {"reader", server_->store().reader().kind()},
            {"device_reads", window->end.device_reads - window->begin.device_reads},
            {"compactions", compactions.made},
            {"kept_records", compactions.kept_records},
            {"freed_bytes", compactions.freed_bytes},
            {"device_read_bytes", device.traffic().read_bytes},
            {"device_written_bytes", device.traffic().written_bytes}}},
          {"errors", {{"log_write", log.error() ? 1 : 0}, {"compaction", compactions.failed}}}};
}

Json ServerNode::stop(const Json& args) {
  const Arguments arguments("hlserver-node stop", args, {});
  const std::lock_guard lock(mutex_);
  close();
  return Json::object();
}

// Its ports are needed again.
void ServerNode::close() {
  sampler_.reset();
  server_.reset();
  set_state_("idle");
}

void ServerNode::require_serving(const char* command) const {
  if (server_) return;
  throw CommandError("wrong_state", std::string("hlserver-node ") + command +
                                        ": nothing is served; send `prepare` first");
}

}  // namespace turntable::shadowfax
