#include "shadowfax/server/given_log.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/clock.h"
#include "common/deadline.h"
#include "hybridlog/chain_lookup.h"
#include "shadowfax/server/fetched_record.h"
#include "shadowfax/server/moved_record.h"
#include "shadowfax/server/peer_limits.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;
using Found = hybridlog::OtherLogs::Found;

constexpr std::size_t kAtOnce = 32;  // look-ups

}  // namespace

// The answers that have room, and those that were begun in time: the others are asked again.
Asking::Answer fetch(hybridlog::Store& store, const Json& args,
                     std::span<const std::uint8_t> questions) {
  const auto begin = args.at("begin").get<hybridlog::Address>();
  if (questions.size() % FetchQuestion::kBytes != 0) {
    throw std::invalid_argument("questions of " + std::to_string(questions.size()) +
                                " bytes; expected a multiple of " +
                                std::to_string(FetchQuestion::kBytes));
  }
  Asking::Answer answer{.json = Json::object(), .records = {}};
  std::deque<hybridlog::ChainLookup> under_way;
  const Deadline soon = Deadline::after(kAnswerTime);
  while (!questions.empty() || !under_way.empty()) {
    for (; !questions.empty() && under_way.size() < kAtOnce;
         questions = questions.subspan(FetchQuestion::kBytes)) {
      const FetchQuestion question =
          read_fetch_question(reinterpret_cast<const std::byte*>(questions.data()));
      under_way.emplace_back(store, question.key, question.address, begin);
    }
    if (soon.passed()) questions = {};
    for (hybridlog::ChainLookup& each : under_way) each.go_on();
    for (; !under_way.empty() && under_way.front().go_on(); under_way.pop_front()) {
      const hybridlog::ChainLookup& done = under_way.front();
      const bool has_value = done.found() == Found::kValue;
      append(answer.records, FetchAnswer{.found = done.found(),
                                         .value = has_value ? done.value() : hybridlog::Bytes()});
      if (answer.records.size() >= kMessageBytes) return answer;
    }
    std::this_thread::yield();
  }
  return answer;
}

Asking::Answer PulledLog::answer(const Json& args) {
  const auto sequence = args.at("sequence").get<std::uint64_t>();
  const auto migration = args.at("id").get<std::uint64_t>();
  const auto found = pulls_.find(migration);
  const bool is_known =
      sequence == 0 ||
      (found != pulls_.end() && found->second.sequence &&
       (sequence == *found->second.sequence || sequence == *found->second.sequence + 1));
  if (!is_known) throw Refusal("question " + std::to_string(sequence) + " of a pull; expected 0");
  Pull& pull = sequence == 0 ? begin(migration, args) : found->second;
  pull.asked_ns = monotonic_ns();
  if (pull.sequence != sequence) {
    pull.last = next(pull);
    pull.sequence = sequence;
  }
  return pull.last;
}

PulledLog::Pull& PulledLog::begin(std::uint64_t migration, const Json& args) {
  const auto number = [&](const char* name) { return args.at(name).get<std::uint64_t>(); };
  if (store_.log().begin() != number("begin")) {
    throw Refusal("the log begins at " + std::to_string(store_.log().begin()) + "; expected " +
                  args.at("begin").dump());
  }
  pulls_.erase(migration);
  make_room();
  return pulls_
      .try_emplace(migration, store_, hybridlog::HashRange{number("first"), number("last")},
                   number("until"))
      .first->second;
}

void PulledLog::make_room() {
  if (pulls_.size() < kMostPulls) return;
  const auto oldest =
      std::ranges::min_element(pulls_, {}, [](const auto& each) { return each.second.asked_ns; });
  if (monotonic_ns() - oldest->second.asked_ns < forgotten_.count())
    throw Refusal(std::to_string(pulls_.size()) + " pulls are under way; ask again later");
  pulls_.erase(oldest);
}

// Of at least a page; it may have nothing of the range.
Asking::Answer PulledLog::next(Pull& pull) {
  Asking::Answer answer{.json = {{"is_last", false}}, .records = {}};
  const Deadline soon = Deadline::after(kAnswerTime);
  for (bool has_read = false; answer.records.size() < kMessageBytes;) {
    if (pull.next < pull.records.size()) {
      append(answer.records, pull.records[pull.next++]);
      continue;
    }
    if (has_read && soon.passed()) break;
    has_read = true;
    pull.next = 0;
    if (pull.scan && pull.scan->next_page(pull.records)) continue;
    answer.json["is_last"] = true;
    pull.scan.reset();
    pull.records.clear();
    break;
  }
  return answer;
}

}  // namespace turntable::shadowfax
