#include "history/key_history.h"

#include <algorithm>
#include <set>

namespace turntable::history {
namespace {

constexpr std::int64_t kBeforeTheRun = std::numeric_limits<std::int64_t>::min();

}  // namespace

KeyHistory::KeyHistory(std::span<const Operation> history, std::span<const std::size_t> members)
    : history_(history), members_(members) {
  for (const std::size_t index : members_) {
    const Operation& operation = history_[index];
    if (operation.type == OperationType::kPut) puts_.emplace(operation.version, index);
    if (operation.type == OperationType::kDelete) {
      first_delete_ns_ = std::min(first_delete_ns_.value_or(kNever), operation.invoke_ns);
      deletes_gone_ns_ = std::max(deletes_gone_ns_, operation.copies_gone_ns);
    }
  }
}

std::optional<Contradiction> KeyHistory::check() {
  for (const std::size_t index : members_) {
    if (history_[index].type == OperationType::kGet || !history_[index].answered()) continue;
    if (auto found = add_acknowledged(index)) return found;
  }
  for (const std::size_t index : members_) {
    if (history_[index].type != OperationType::kGet || !history_[index].answered()) continue;
    if (auto found = add_read(index)) return found;
  }
  return conflict();
}

std::optional<Contradiction> KeyHistory::add_acknowledged(std::size_t index) {
  const Operation& write = history_[index];
  if (write.number == 0) {
    return Contradiction{
        "a write was acknowledged with number 0, that of the record before the run", {index}};
  }
  const auto [place, is_new] = clusters_.try_emplace(
      write.number, Cluster{.zone = {.first_end = write.response_ns, .last_begin = write.invoke_ns},
                            .begin = write.invoke_ns,
                            .has_value = write.type == OperationType::kPut,
                            .version = write.version,
                            .write = index,
                            .reads = {}});
  if (is_new) return std::nullopt;
  return Contradiction{"two writes were acknowledged with one number",
                       {*place->second.write, index}};
}

std::optional<Contradiction> KeyHistory::add_read(std::size_t index) {
  const Operation& read = history_[index];
  if (read.is_foreign() || (read.number == 0 && read.found && read.version != 0)) {
    return Contradiction{"a value was read that nobody wrote", {index}};
  }
  if (!clusters_.contains(read.number)) {
    if (auto found = make_cluster(index)) return found;
  }
  Cluster& cluster = clusters_.at(read.number);
  const bool same =
      cluster.has_value == read.found && (!read.found || cluster.version == read.version);
  if (!same) {
    std::vector<std::size_t> operations = witnesses_of(cluster);
    operations.push_back(index);
    return Contradiction{"two records have one number", std::move(operations)};
  }
  cluster.reads.push_back(index);
  if (read.response_ns < cluster.begin) {
    std::vector<std::size_t> operations(1, index);
    if (cluster.write) operations.push_back(*cluster.write);
    return Contradiction{"a value was read before it was written", std::move(operations)};
  }
  cluster.zone.first_end = std::min(cluster.zone.first_end, read.response_ns);
  cluster.zone.last_begin = std::max(cluster.zone.last_begin, read.invoke_ns);
  return std::nullopt;
}

// An effect that is only known because somebody read it.
std::optional<Contradiction> KeyHistory::make_cluster(std::size_t index) {
  const Operation& read = history_[index];
  Cluster cluster{.zone = {},
                  .begin = kBeforeTheRun,
                  .has_value = read.found,
                  .version = read.version,
                  .write = std::nullopt,
                  .reads = {}};
  if (read.number == 0) {
    cluster.zone = {.first_end = kBeforeTheRun, .last_begin = kBeforeTheRun};
  } else if (!read.found) {
    if (!first_delete_ns_) return Contradiction{"a delete was read that nobody sent", {index}};
    cluster.begin = *first_delete_ns_;
    cluster.zone = {.first_end = deletes_gone_ns_, .last_begin = cluster.begin};
  } else {
    const auto put = puts_.find(read.version);
    if (put == puts_.end()) return Contradiction{"a value was read that nobody wrote", {index}};
    const Operation& write = history_[put->second];
    cluster.write = put->second;
    cluster.begin = write.invoke_ns;
    cluster.zone = {.first_end = write.copies_gone_ns, .last_begin = write.invoke_ns};
  }
  clusters_.emplace(read.number, std::move(cluster));
  return std::nullopt;
}

std::optional<Contradiction> KeyHistory::conflict() const {
  std::vector<Zone> zones;
  std::vector<const Cluster*> owners;
  for (const auto& [number, cluster] : clusters_) {
    zones.push_back(cluster.zone);
    owners.push_back(&cluster);
  }
  const auto found = find_conflict(zones);
  if (!found) return std::nullopt;
  std::vector<std::size_t> operations = witnesses_of(*owners[found->first]);
  std::ranges::copy(witnesses_of(*owners[found->second]), std::back_inserter(operations));
  return Contradiction{"two records would each have to be the older one", std::move(operations)};
}

// The operations that make the cluster's zone what it is.
std::vector<std::size_t> KeyHistory::witnesses_of(const Cluster& cluster) const {
  std::set<std::size_t> operations(cluster.reads.begin(), cluster.reads.end());
  if (cluster.write) operations.insert(*cluster.write);
  if (operations.empty()) return {};
  const auto end_of = [&](std::size_t i) { return history_[i].response_ns; };
  const auto begin_of = [&](std::size_t i) { return history_[i].invoke_ns; };
  std::set<std::size_t> witnesses = {*std::ranges::min_element(operations, {}, end_of),
                                     *std::ranges::max_element(operations, {}, begin_of)};
  if (cluster.write) witnesses.insert(*cluster.write);
  return {witnesses.begin(), witnesses.end()};
}

}  // namespace turntable::history
