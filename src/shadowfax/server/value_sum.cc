#include "shadowfax/server/value_sum.h"

#include <string>
#include <unordered_set>

#include "common/clock.h"
#include "common/command_error.h"
#include "hybridlog/log_scan.h"

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kMostPending = 64;
constexpr std::uint64_t kLookEvery = 4096;
constexpr hybridlog::HashRange kAll{.first = 0, .last = UINT64_MAX};

}  // namespace

std::vector<std::uint64_t> keys_of(hybridlog::Store& store) {
  std::unordered_set<std::uint64_t> keys;
  hybridlog::LogScan scan(store, kAll, store.log().tail());
  std::vector<hybridlog::ScannedRecord> records;
  while (scan.next_page(records))
    for (const hybridlog::ScannedRecord& record : records) keys.insert(record.key);
  return {keys.begin(), keys.end()};
}

ValueSum::ValueSum(hybridlog::Store& store, std::int64_t deadline_ns)
    : thread_(store.epoch()), session_(store, thread_), deadline_ns_(deadline_ns) {
  thread_.protect();
}

void ValueSum::add(std::uint64_t key) {
  take(session_.read_value(key));
  while (session_.pending() > kMostPending) go_on();
  if (asked_++ % kLookEvery == 0) require_before_the_deadline();
}

nlohmann::json ValueSum::result() {
  while (session_.pending() > 0) {
    go_on();
    require_before_the_deadline();
  }
  return {{"sum", sum_}, {"found", found_}};
}

void ValueSum::go_on() {
  session_.complete_pending(
      [this](std::uint64_t, hybridlog::Session::Answer answer) { take(answer); });
}

void ValueSum::take(hybridlog::Session::Answer answer) {
  using hybridlog::Status;
  if (answer.status == Status::kIoError)
    throw CommandError("unavailable", "hlserver-node sums: the log's file does not give a record");
  if (answer.status != Status::kOk) return;
  sum_ += answer.value;
  ++found_;
}

void ValueSum::require_before_the_deadline() const {
  if (monotonic_ns() <= deadline_ns_) return;
  throw CommandError("timeout", "hlserver-node sums: the deadline has passed with " +
                                    std::to_string(asked_) + " keys read");
}

}  // namespace turntable::shadowfax
