#include "farreach/cache/recovery.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/all_of.h"
#include "net/wait_for.h"

namespace turntable::cache {
namespace {

using Json = Recovery::Json;

constexpr std::size_t kCopiesAtOnce = 4096;
constexpr std::size_t kReplayedAtOnce = 2048;
constexpr std::size_t kRestoredAtOnce = 1024;
constexpr std::int64_t kHoldsProbeNs = 10 * kMillisecondNs;

constexpr const char* kAgent = "switch-agent";

std::string name_of_server(unsigned partition) {
  return "the server of partition " + std::to_string(partition);
}

void require_recovered(const Message& answer, const std::string& who) {
  if (answer.text.empty()) return;
  throw CommandError("unavailable", "cache-controller recover: " + who + " refused " +
                                        name_of(answer.type) + ": " + answer.text);
}

}  // namespace

class Recovery::Waiting {
 public:
  Waiting(Recovery& recovery, std::string whom)
      : recovery_(recovery), place_(recovery.waiting_for_.insert(std::move(whom))) {}
  ~Waiting() { recovery_.waiting_for_.erase(place_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Recovery& recovery_;
  std::multiset<std::string>::iterator place_;
};

net::Task<Json> Recovery::run(std::vector<Key> expected) {
  co_await phase("cached_set", look());
  phases_.clear();
  // A switch that serves has been restored in this epoch: what the file of the epoch before has is
  // at the servers.
  if (settings_.write_back && !epoch_.serves) {
    for (const Record& record : peers_.last_snapshot()) merge(record, /*in_snapshot=*/true);
  }
  if (settings_.write_back) {
    co_await phase("collect", collect());
    co_await phase("replay", replay());
  }
  choose_cached(std::move(expected));
  co_await phase("numbers", number());
  co_await phase("fetch", fetch());
  co_await phase("restore", restore());
  Json result = {{"restored", cached_.size()},
                 {"newer", nullptr},
                 {"missed", nullptr},
                 {"number", largest_ + kNumbersLeftOut},
                 {"phases", phases_}};
  if (taken_) result.update({{"newer", taken_->newer}, {"missed", taken_->missed}});
  co_return result;
}

// A switch that requests have passed has records that nobody else has.
net::Task<void> Recovery::look() {
  const auto ask = [](Recovery& self) -> net::Task<void> {
    Message question = request(MessageType::kCachedSet, {1});
    const Message answer = co_await self.agent(std::move(question));
    if (answer.numbers.size() != 6 || answer.numbers[5] != 1) {
      throw CommandError("wrong_state",
                         "cache-controller recover: requests have passed the switch since it was "
                         "started; expected one that has been started again, whose agent has got "
                         "`configure` with \"fresh\", and that does not forward requests yet");
    }
    self.cache_size_ = answer.numbers[2];
    self.epoch_ = epoch_in(answer);
  };
  std::vector<net::Task<void>> parts;
  parts.push_back(ask(*this));
  return together(std::move(parts));
}

// ---------------------------------------------------------------------------------------------
// What clients and snapshot have

net::Task<void> Recovery::collect() {
  const auto all_there = [this] { return peers_.clients().size() >= settings_.clients; };
  co_await until(all_there, std::to_string(settings_.clients) + " clients to connect");
  std::vector<net::Task<void>> parts;
  for (const SessionId session : peers_.clients()) parts.push_back(collect_from(session));
  co_await together(std::move(parts));
  records_ = found_.size();
}

net::Task<void> Recovery::collect_from(SessionId session) {
  const Waiting waiting(*this, "the copies of client session " + std::to_string(session));
  std::vector<Record> behind;
  while (true) {
    Message question = request(MessageType::kCopies, {kCopiesAtOnce}, behind);
    const Message page = co_await peers_.ask_client(session, std::move(question));
    if (!page.text.empty()) {
      throw CommandError("unavailable",
                         "cache-controller recover: a client did not give all its copies: " +
                             page.text + "; call `recover` again when it is back");
    }
    for (const Record& copy : page.records) merge(copy, /*in_snapshot=*/false);
    if (page.records.size() < kCopiesAtOnce) co_return;
    behind.assign(1, key_only(page.records.back().key));
  }
}

// Of two records the larger number is the newer one, whoever has it; deletes are records.
void Recovery::merge(const Record& record, bool in_snapshot) {
  if (record.kind != Record::Kind::kValue && record.kind != Record::Kind::kDeleted) return;
  largest_ = std::max(largest_, record.number);
  Found& found = found_.try_emplace(record.key, Found{record}).first->second;
  if (record.number > found.record.number) found.record = record;
  found.in_snapshot = found.in_snapshot || in_snapshot;
}

void Recovery::choose_cached(std::vector<Key> expected) {
  cached_ = std::move(expected);
  if (!cached_.empty()) return;
  for (const bool in_snapshot : {true, false}) {
    for (const auto& [key, found] : found_) {
      if (found.in_snapshot != in_snapshot || partition_of(key) == settings_.scale) continue;
      if (cached_.size() == cache_size_) return;
      cached_.push_back(key);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Servers

net::Task<void> Recovery::replay() {
  std::map<unsigned, std::vector<Record>> records;
  for (auto& [key, found] : found_) records[partition_of(key)].push_back(found.record);
  std::vector<net::Task<void>> parts;
  for (const unsigned partition : settings_.partitions) {
    const auto of_partition = records.extract(partition);
    if (of_partition.empty()) continue;
    records_ += of_partition.mapped().size();
    parts.push_back(replay_to(partition, std::move(of_partition.mapped())));
  }
  if (!records.empty() && records.begin()->first < settings_.scale) {
    throw CommandError("bad_argument", "cache-controller recover: there are records of partition " +
                                           std::to_string(records.begin()->first) +
                                           ", which is not among \"partitions\"");
  }
  co_await together(std::move(parts));
}

net::Task<void> Recovery::replay_to(unsigned partition, std::vector<Record> records) {
  for (std::size_t at = 0; at < records.size(); at += kReplayedAtOnce) {
    const auto first = records.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t count = std::min(kReplayedAtOnce, records.size() - at);
    std::vector<Record> batch(first, first + static_cast<std::ptrdiff_t>(count));
    Message asked = request(MessageType::kReplay, {}, std::move(batch));
    const Message answer = co_await server(partition, std::move(asked));
    if (answer.was_asked_before || answer.numbers.size() != 2) taken_.reset();
    if (!taken_) continue;
    taken_->newer += answer.numbers[0];
    taken_->missed += answer.numbers[1];
  }
}

net::Task<void> Recovery::number() {
  std::vector<net::Task<void>> largest;
  for (const unsigned partition : settings_.partitions) largest.push_back(ask_largest(partition));
  co_await together(std::move(largest));
  if (largest_ > kLargestNumber - kNumbersLeftOut) {
    throw CommandError("full", "cache-controller recover: the largest number is " +
                                   std::to_string(largest_) + "; with a margin of " +
                                   std::to_string(kNumbersLeftOut) +
                                   " it exceeds the 30 bits of the switch. Begin with new stores " +
                                   "(kvserver `prepare` without \"keep_stores\")");
  }
  std::vector<net::Task<void>> fences;
  for (const unsigned partition : settings_.partitions) fences.push_back(fence(partition));
  co_await together(std::move(fences));
  const auto set = [](Recovery& self) -> net::Task<void> {
    Message asked =
        request(MessageType::kSetNumbers, {self.largest_ + kNumbersLeftOut, self.epoch_.number});
    co_await self.agent(std::move(asked));
  };
  std::vector<net::Task<void>> parts;
  parts.push_back(set(*this));
  co_await together(std::move(parts));
}

net::Task<void> Recovery::ask_largest(unsigned partition) {
  Message question = request(MessageType::kMaxNumber, {partition});
  const Message answer = co_await server(partition, std::move(question));
  if (!answer.numbers.empty()) largest_ = std::max(largest_, answer.numbers.front());
}

net::Task<void> Recovery::fence(unsigned partition) {
  Message asked = request(MessageType::kFence, {largest_ + kNumbersLeftOut, partition});
  co_await server(partition, std::move(asked));
}

net::Task<void> Recovery::fetch() {
  std::map<unsigned, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < cached_.size(); ++i) {
    records_of_cached_.push_back(key_only(cached_[i]));
    places[partition_of(cached_[i])].push_back(i);
  }
  std::vector<net::Task<void>> parts;
  for (const unsigned partition : settings_.partitions) {
    const auto of_partition = places.extract(partition);
    if (of_partition.empty()) continue;
    records_ += of_partition.mapped().size();
    parts.push_back(fetch_from(partition, std::move(of_partition.mapped())));
  }
  co_await together(std::move(parts));
}

net::Task<void> Recovery::fetch_from(unsigned partition, std::vector<std::size_t> places) {
  for (std::size_t at = 0; at < places.size(); at += kRestoredAtOnce) {
    const std::size_t count = std::min(kRestoredAtOnce, places.size() - at);
    Message question = request(MessageType::kFetch, {0});
    for (std::size_t i = at; i < at + count; ++i) {
      question.records.push_back(key_only(cached_[places[i]]));
    }
    Message answer = co_await server(partition, std::move(question));
    if (answer.records.size() != count) {
      throw CommandError("unavailable", "cache-controller recover: " + name_of_server(partition) +
                                            " gave " + std::to_string(answer.records.size()) +
                                            " records of " + std::to_string(count) + " keys");
    }
    for (std::size_t i = 0; i < count; ++i) {
      records_of_cached_[places[at + i]] = std::move(answer.records[i]);
    }
  }
}

net::Task<void> Recovery::restore() {
  records_ = cached_.size();
  const auto write = [](Recovery& self) -> net::Task<void> {
    Message asked =
        request(MessageType::kRestore, {self.epoch_.number}, std::move(self.records_of_cached_));
    co_await self.agent(std::move(asked));
  };
  std::vector<net::Task<void>> parts;
  parts.push_back(write(*this));
  co_await together(std::move(parts));
}

// ---------------------------------------------------------------------------------------------

net::Task<void> Recovery::phase(const char* name, net::Task<void> work) {
  constexpr double kNsPerSecond = 1e9;
  phase_ = name;
  records_ = 0;
  const std::int64_t begin = timers_.now_ns();
  co_await work;
  const double seconds = static_cast<double>(timers_.now_ns() - begin) / kNsPerSecond;
  Json row = {{"phase", name}, {"seconds", seconds}, {"records", records_}};
  if (seconds > 0) row["records_per_s"] = static_cast<double>(records_) / seconds;
  phases_.push_back(std::move(row));
}

net::Task<void> Recovery::together(std::vector<net::Task<void>> parts) {
  return net::all_of(timers_, std::move(parts), settings_.deadline_ns, [this] {
    return std::make_exception_ptr(CommandError("timeout", overdue()));
  });
}

std::string Recovery::overdue() const {
  std::string text = "cache-controller recover: not done before the deadline, in phase " + phase_ +
                     "; it waits for ";
  std::string whom;
  for (const std::string& name : waiting_for_) whom += (whom.empty() ? "" : ", ") + name;
  return text + whom + ". See to them and call `recover` again";
}

net::Task<void> Recovery::until(std::function<bool()> condition, std::string whom) {
  const auto wait = [](Recovery& self, std::function<bool()> holds,
                       std::string name) -> net::Task<void> {
    const Waiting waiting(self, std::move(name));
    while (!holds()) co_await net::wait_for(self.timers_, kHoldsProbeNs);
  };
  std::vector<net::Task<void>> parts;
  parts.push_back(wait(*this, std::move(condition), std::move(whom)));
  return together(std::move(parts));
}

net::Task<Message> Recovery::agent(Message asked) {
  const Waiting waiting(*this, kAgent);
  Message answer = co_await peers_.ask_agent(std::move(asked));
  require_recovered(answer, kAgent);
  co_return answer;
}

net::Task<Message> Recovery::server(unsigned partition, Message asked) {
  const bool is_there = peers_.served().contains(partition);
  const Waiting waiting(*this, name_of_server(partition) +
                                   (is_there ? "" : " (there is none: start kvserver for it)"));
  Message answer = co_await peers_.ask_server(partition, std::move(asked));
  require_recovered(answer, name_of_server(partition));
  co_return answer;
}

unsigned Recovery::partition_of(const Key& key) const {
  const auto id = workload::key_id_from_wire(key);
  return id ? workload::partition_of(workload::slot_of(*id), settings_.scale) : settings_.scale;
}

}  // namespace turntable::cache
