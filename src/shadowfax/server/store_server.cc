#include "shadowfax/server/store_server.h"

#include <stdexcept>
#include <utility>

#include "common/pinning.h"
#include "hybridlog/checkpoint_file.h"
#include "shadowfax/cluster/owner_lock.h"
#include "shadowfax/server/peer_limits.h"

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kClusterThreads = 4;  // that send a range, begin to own one, take it, pull it
constexpr std::size_t kCompactionThreads = 1;
constexpr std::uint64_t kOnlyView = 1, kNoView = 0;

hybridlog::StoreSettings with_workers(const StoreServer::Settings& settings) {
  hybridlog::StoreSettings store = settings.store;
  store.threads += settings.workers;
  if (settings.cluster) store.threads += kClusterThreads;
  if (settings.compact_above_bytes) store.threads += kCompactionThreads;
  return store;
}

WorkerSettings of_worker(const StoreServer::Settings& settings, unsigned index) {
  WorkerSettings worker = settings.worker;
  if (worker.port != 0) worker.port = static_cast<std::uint16_t>(worker.port + index);
  // Who proves the secret to other servers asks clients for it, too.
  if (!worker.secret && settings.cluster)
    worker.secret = settings.cluster->credentials("batches").secret();
  return worker;
}

void require_ports(const StoreServer::Settings& settings) {
  if (settings.worker.port + settings.workers <= 65'536) return;
  throw std::invalid_argument(std::to_string(settings.workers) + " workers from port " +
                              std::to_string(settings.worker.port) +
                              " on; expected ports up to 65535");
}

void require_a_page(const StoreServer::Settings& settings) {
  const std::uint64_t page = settings.store.log.page_bytes();
  if (!settings.compact_above_bytes || *settings.compact_above_bytes >= page) return;
  throw std::invalid_argument("a log that is compacted above " +
                              std::to_string(*settings.compact_above_bytes) +
                              " bytes; expected at least a page, " + std::to_string(page));
}

hybridlog::Store open_store(const StoreServer::Settings& settings,
                            const std::optional<hybridlog::Checkpoint>& from) {
  auto device = hybridlog::open_file(settings.file);
  if (from) return {with_workers(settings), std::move(device), *from};
  return {with_workers(settings), std::move(device)};
}

}  // namespace

StoreServer::Found StoreServer::find(const Settings& settings) {
  Found found{.lock = lock_as_owner(settings.file, "the log of a server")};
  if (settings.checkpoints)
    found.checkpoint = hybridlog::read_checkpoint(settings.checkpoints->file);
  return found;
}

StoreServer::StoreServer(const Settings& settings, Found found)
    : lock_(std::move(found.lock)),
      commits_(found.checkpoint ? found.checkpoint->serials : hybridlog::Serials()),
      serving_(settings.cluster ? kNoView : kOnlyView, [this] { newer_views_.seen(); }),
      store_(open_store(settings, found.checkpoint)) {
  if (settings.range_check.kind != RangeCheckKind::kView) ranges_.emplace(settings.range_check);
}

// If this fails the destructor ends the workers that have begun.
StoreServer::StoreServer(const Settings& settings) : StoreServer(settings, find(settings)) {
  require_ports(settings);
  require_a_page(settings);
  if (settings.cluster && !settings.checkpoints)
    throw std::invalid_argument(
        "a server of a cluster without checkpoints; expected a file of them");
  for (unsigned i = 0; i < settings.workers; ++i)
    workers_.push_back(
        std::make_unique<Worker>(store_, commits_, serving_, ranges(), of_worker(settings, i)));
  threads_.reserve(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    threads_.emplace_back([cpus = settings.cpus, worker = workers_[i].get(), i] {
      pin_this_thread(cpus, i);
      worker->run();
    });
  }
  if (settings.checkpoints) {
    checkpointer_.emplace(store_, commits_, settings.checkpoints->file,
                          settings.checkpoints->interval, store_.recovered().index);
  }
  if (settings.cluster) {
    store_.elsewhere().read_by(&logs_);
    checkpointer_->hold_while([this] { return logs_.are_silent(kSilentTime); },
                              [this] { return logs_.are_silent(kDeadTime); });
    member_.emplace(*settings.cluster, settings.worker.address, ports(), store_, *checkpointer_,
                    gate_, serving_, newer_views_, logs_, ranges());
  }
  if (settings.compact_above_bytes) begin_compacting(settings);
}

void StoreServer::begin_compacting(const Settings& settings) {
  Compactor::Settings compacting{.above_bytes = *settings.compact_above_bytes,
                                 .gives_back = !settings.checkpoints};
  if (member_) compacting.how = [this] { return member_->compaction(); };
  compactor_.emplace(store_, gate_, compacting);
}

StoreServer::~StoreServer() {
  compactor_.reset();
  if (checkpointer_) checkpointer_->end();
  member_.reset();
  checkpointer_.reset();
  stop();
}

void StoreServer::stop() {
  for (const auto& worker : workers_) worker->stop();
}

std::vector<std::uint16_t> StoreServer::ports() const {
  std::vector<std::uint16_t> ports;
  ports.reserve(workers_.size());
  for (const auto& worker : workers_) ports.push_back(worker->port());
  return ports;
}

StoreServer::Readings StoreServer::read() const {
  Readings readings;
  readings.reserve(workers_.size());
  for (const auto& worker : workers_) readings.push_back(worker->read());
  return readings;
}

}  // namespace turntable::shadowfax
