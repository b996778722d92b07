#include "farreach/cache/admissions.h"

#include <algorithm>
#include <utility>

#include "net/wait_for.h"

namespace turntable::cache {
namespace {

constexpr std::int64_t kAgainNs = 20'000'000;

}  // namespace

net::Task<Admission> Admissions::admit(unsigned partition, Key key) {
  Message question = request(MessageType::kFetch, {1}, {key_only(key)});
  Message fetched = co_await peers_.ask_server(partition, std::move(question));
  if (!fetched.text.empty() || fetched.records.size() != 1) co_return Admission();
  open_.insert(partition);
  const Admission admission = co_await admit_record(std::move(fetched.records.front()));
  end(partition);
  Message settled = request(MessageType::kSettled);
  append_cached({{key, admission}}, settled);
  co_await peers_.ask_server(partition, std::move(settled));
  co_return admission;
}

// After a failure nobody knows whether the switch has the key, so it is evicted.
net::Task<Admission> Admissions::admit_record(Record record) {
  const Key key = record.key;
  Message question = request(MessageType::kAdmit, {}, {std::move(record)});
  Message answer = co_await peers_.ask_agent(std::move(question));
  while (!answer.text.empty()) {
    co_await net::wait_for(timers_, kAgainNs);
    Message eviction = request(MessageType::kEvict, {}, {key_only(key)});
    answer = co_await peers_.ask_agent(std::move(eviction));
  }
  const std::vector<CachedKey> admitted = read_cached(answer);
  co_return admitted.empty() ? Admission() : admitted.front().admission;
}

void Admissions::end(unsigned partition) {
  open_.extract(partition);  // one of them
  for (Ended* const waiting : std::exchange(waiting_, {})) waiting->complete(true);
}

net::Task<void> Admissions::until_none_is_open(const std::set<unsigned>& partitions) {
  const auto is_open = [this](unsigned partition) { return open_.contains(partition); };
  while (std::any_of(partitions.begin(), partitions.end(), is_open)) {
    Ended ended;
    waiting_.push_back(&ended);
    co_await ended;
  }
}

// These partitions have no server meanwhile, so no record of theirs is fetched.
net::Task<void> Admissions::find_cached(std::set<unsigned> partitions,
                                        ServerSessions::Found found) {
  co_await until_none_is_open(partitions);
  Message slots;
  while (true) {
    Message question = request(MessageType::kSlots);
    slots = co_await peers_.ask_agent(std::move(question));
    if (slots.text.empty()) break;
    co_await net::wait_for(timers_, kAgainNs);
  }
  std::vector<CachedKey> cached = read_cached(slots);
  std::erase_if(cached, [&](const CachedKey& listed) {
    return !partitions.contains(peers_.partition_of(listed.key));
  });
  found(cached);
}

}  // namespace turntable::cache
