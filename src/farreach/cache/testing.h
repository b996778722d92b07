// A switch, servers and time in memory, for tests of the agent: slots behave as docs/kvcache.md §4
// says, and control frames get lost, late and twice as a test wants it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "common/bytes.h"
#include "farreach/cache/agent.h"

namespace turntable::cache::testing {

class FakeTimers final : public net::Timers {
 public:
  std::int64_t now_ns() const override { return now_ns_; }
  TimerId call_at(std::int64_t at_ns, std::function<void()> call) override {
    calls_.emplace(std::pair(at_ns, next_), std::move(call));
    return next_++;
  }
  void cancel(TimerId id) override {
    std::erase_if(calls_, [id](const auto& call) { return call.first.second == id; });
  }
  // Makes the calls that are due now. False: there were none.
  bool run_due() {
    bool any = false;
    while (!calls_.empty() && calls_.begin()->first.first <= now_ns_) {
      auto node = calls_.extract(calls_.begin());
      node.mapped()();
      any = true;
    }
    return any;
  }
  // To the next call. False: there is none.
  bool advance() {
    if (calls_.empty()) return false;
    now_ns_ = std::max(now_ns_, calls_.begin()->first.first);
    return true;
  }

 private:
  std::int64_t now_ns_ = 1;
  TimerId next_ = 1;
  std::map<std::pair<std::int64_t, TimerId>, std::function<void()>> calls_;
};

// What the stores of all servers hold.
class FakeServers {
 public:
  // A write that carries a larger snapshot token than any before lies behind that snapshot's point.
  void apply(const Record& record, std::uint32_t token = 0) {
    take_snapshot(token);
    Record& stored = of(record.key);
    if (record.number > stored.number) stored = record;
  }
  Record& of(const Key& key) {
    return records_.try_emplace(key, Record{.key = key, .kind = Record::Kind::kValue, .value = {}})
        .first->second;
  }
  void take_snapshot(std::uint32_t token) {
    if (token <= token_) return;
    token_ = token;
    snapshot_ = records_;
  }
  const std::map<Key, Record>& snapshot() const { return snapshot_; }

 private:
  std::map<Key, Record> records_;
  std::map<Key, Record> snapshot_;
  std::uint32_t token_ = 0;  // of snapshot_
};

inline const Record& newer(const Record& stored, const Record& slot) {
  return slot.number > stored.number ? slot : stored;
}

class FakeSwitch : public Driver {
 public:
  struct Cells {
    std::uint8_t valid = 0;
    ControlFrame record;  // length, value and cell
    std::uint32_t frequency = 0;
    std::uint32_t case1 = 0;  // token of the last snapshot that it was reported for
  };
  struct Faults {
    double lost = 0;  // of questions and of answers
    double twice = 0;
    bool reports_lost = false;  // CASE1
  };

  explicit FakeSwitch(FakeServers& servers) : servers_(servers), slots_(kSlotsOfSwitch) {}

  Faults faults;
  // The agent dies after so many operations: what it does then does not happen.
  std::uint64_t operations_until_death = UINT64_MAX;
  std::uint64_t operations = 0;
  std::vector<std::uint64_t> numbers = std::vector<std::uint64_t>(kSlotsOfSwitch);
  std::map<Key, Slot> lookup;
  std::uint32_t token = 0;  // of the snapshot being taken; 0: none is
  std::string snapshot_default = "no_snapshot";
  std::uint64_t case1_count = 0;
  std::string unwritable_register;
  std::vector<std::uint64_t> outcomes = std::vector<std::uint64_t>(64);

  bool agent_lives() { return ++operations <= operations_until_death; }
  const Cells& slot(Slot slot) const { return slots_[slot]; }

  // -- Control plane
  void write_tables(const Json& updates) override {
    if (!agent_lives()) return;
    for (const Json& update : updates) {
      if (update.at("table") == "snapshot") {
        snapshot_default = update.at("action");
        token = snapshot_default == "in_snapshot" ? update.at("data").at("token").get<int>() : 0;
        continue;
      }
      if (update.at("op") == "clear") {
        lookup.clear();
        continue;
      }
      const Key key = key_of_lookup(update.at("key"));
      if (lookup.erase(key) == 0) throw std::runtime_error("no such entry");
    }
  }
  void write_entries(const std::string&, const std::vector<Column>& key, const std::string&,
                     const std::vector<Column>& data) override {
    if (!agent_lives()) return;
    for (std::size_t row = 0; row < data.at(0).numbers.size(); ++row) {
      Json fields;
      for (const Column& column : key) fields[column.field] = column.numbers.at(row);
      lookup[key_of_lookup(fields)] = static_cast<Slot>(data[0].numbers[row]);
    }
  }
  Json read_table(const std::string&) override {
    Json entries = Json::array();
    for (const auto& [key, slot] : lookup) {
      entries.push_back({{"key", lookup_key(key)}, {"data", {{"slot", slot}}}});
    }
    return entries;
  }
  std::size_t count_entries(const std::string&) override { return lookup.size(); }
  std::string read_default(const std::string&) override { return snapshot_default; }
  std::vector<std::uint64_t> read_register(const std::string&, std::uint32_t first,
                                           std::uint32_t count) override {
    return {numbers.begin() + first, numbers.begin() + first + count};
  }
  void write_register(const std::string& name, std::uint32_t first,
                      const std::vector<std::uint64_t>& values) override {
    if (name == unwritable_register) throw std::runtime_error("no register " + name);
    if (name == "seq.cells") std::copy(values.begin(), values.end(), numbers.begin() + first);
    for (std::size_t i = 0; i < values.size(); ++i) {
      set_cell(name, slots_[first + i], values[i]);
    }
  }
  void clear_register(const std::string& name) override {
    for (Cells& cells : slots_) set_cell(name, cells, 0);
  }
  void clear_registers() override { slots_.assign(kSlotsOfSwitch, {}); }
  std::vector<std::uint64_t> read_counter(const std::string&) override {
    outcomes[static_cast<std::size_t>(p4::Outcome::kPutCase1)] = case1_count;
    return outcomes;
  }

  void send(const ControlFrame& frame) override {
    if (!agent_lives() || happens(faults.lost)) return;
    queue_.push_back(frame);
    if (happens(faults.twice)) queue_.push_back(frame);
  }
  // One frame through the data plane, or a report from it. False: there is none.
  bool deliver() {
    if (!reports_.empty()) {
      const ControlFrame report = reports_.front();
      reports_.pop_front();
      received(report);
      return true;
    }
    if (queue_.empty()) return false;
    const ControlFrame frame = queue_.front();
    queue_.pop_front();
    const ControlFrame answer = process(frame);
    if (happens(faults.lost)) return true;
    received(answer);
    if (happens(faults.twice)) received(answer);
    return true;
  }
  void drop_answers() { on_frame(nullptr); }
  void report_hot(const Key& key) {
    received({.operation = ControlFrame::Operation::kHot, .key = key});
  }

  // -- Clients. A write's answer is its number; what a GET finds is a record.
  std::uint32_t write(Record record) {
    record.number = static_cast<std::uint32_t>(
        ++numbers[workload::slot_of(*workload::key_id_from_wire(record.key))]);
    Cells* const cells = find(record.key);
    const bool is_large = record.kind == Record::Kind::kLarge;
    if (cells == nullptr || cells->valid == kIgnored) {
      servers_.apply(record, token);
    } else if (cells->valid == kBeingEvicted || is_large) {
      const bool has_record = state_of(cells->record.cell) != kAdmitted;
      cells->record.cell = has_record ? cells->record.cell | kSuperseded : kSuperseded;
      servers_.apply(record, token);
    } else {
      report_case1(record.key, *cells);
      put_record(record, cells->record);
      cells->record.cell = kLatest | record.number;
    }
    return record.number;
  }
  Record get(const Key& key) {
    Record& stored = servers_.of(key);
    Cells* const cells = find(key);
    if (cells == nullptr || cells->valid == kIgnored) return stored;
    ++cells->frequency;
    cells->record.key = key;
    Record slot = record_of(cells->record);
    const std::uint32_t state = state_of(cells->record.cell);
    if (state == kLatest) return slot;
    if (state == kSuperseded) return newer(stored, slot);
    if (cells->valid == kNormal && stored.kind != Record::Kind::kLarge) {
      put_record(stored, cells->record);
      cells->record.cell = kLatest | stored.number;
    }
    return stored;
  }

  bool happens(double chance) { return std::bernoulli_distribution(chance)(random); }
  std::mt19937 random{1};

 private:
  Cells* find(const Key& key) {
    const auto found = lookup.find(key);
    return found == lookup.end() ? nullptr : &slots_[found->second];
  }

  void report_case1(const Key& key, Cells& cells) {
    if (token == 0 || cells.case1 == token) return;
    cells.case1 = token;
    ++case1_count;
    if (faults.reports_lost) return;
    ControlFrame report = cells.record;
    report.operation = ControlFrame::Operation::kCase1;
    report.is_answer = false;
    report.key = key;
    report.slot = lookup.at(key);
    report.token = token;
    reports_.push_back(report);
  }

  static void set_cell(const std::string& name, Cells& cells, std::uint64_t value) {
    constexpr std::string_view kWord = "values.value_";
    if (name == "valid.cells") cells.valid = static_cast<std::uint8_t>(value);
    if (name == "frequency.cells") cells.frequency = static_cast<std::uint32_t>(value);
    if (name == "slot_seq.cells") cells.record.cell = static_cast<std::uint32_t>(value);
    if (name == "vallen.cells") cells.record.length = static_cast<std::uint16_t>(value);
    if (!name.starts_with(kWord)) return;
    const std::size_t word = std::stoul(name.substr(kWord.size()));
    store_big_endian(static_cast<std::uint32_t>(value), cells.record.value.data() + 4 * word);
  }

  ControlFrame process(ControlFrame frame) {
    Cells& cells = slots_[frame.slot];
    switch (frame.operation) {
      case ControlFrame::Operation::kSetValid:
        cells.valid = frame.valid;
        break;
      case ControlFrame::Operation::kAdmit:
        cells.record = frame;
        cells.frequency = 0;
        break;
      default: {
        const ControlFrame question = frame;
        frame = cells.record;
        frame.operation = question.operation;
        frame.key = question.key;
        frame.slot = question.slot;
        frame.request_id = question.request_id;
        frame.valid = cells.valid;
        frame.frequency = cells.frequency;
      }
    }
    frame.is_answer = true;
    return frame;
  }

  FakeServers& servers_;
  std::vector<Cells> slots_;
  std::deque<ControlFrame> queue_;
  std::deque<ControlFrame> reports_;  // on their way to the agent
};

// Keys as clients have them.
inline Key key_number(std::uint64_t number) {
  return workload::wire_key(workload::key_id(number));
}

inline Record value_record(const Key& key, std::uint8_t value, std::uint32_t number = 0) {
  return {.key = key, .kind = Record::Kind::kValue, .number = number, .value = {value}};
}

// Settings of an agent with few slots.
inline AgentSettings small(std::uint32_t cache_size) {
  return {.egress_ports = {3, 4, 5, 6}, .cache_size = cache_size, .victims_sampled = 2};
}

inline std::vector<Record> keys(std::uint64_t first, std::uint64_t count) {
  std::vector<Record> records;
  records.reserve(count);
  for (std::uint64_t n = first; n < first + count; ++n) records.push_back(key_only(key_number(n)));
  return records;
}

inline std::vector<Record> keys_of(const std::vector<Record>& records) {
  std::vector<Record> keys;
  keys.reserve(records.size());
  for (const Record& record : records) keys.push_back(key_only(record.key));
  return keys;
}

// An agent between a FakeSwitch and servers that answer when `servers_answer`.
class World {
 public:
  explicit World(AgentSettings settings) : settings_(std::move(settings)) {}

  FakeServers servers;
  FakeSwitch the_switch{servers};
  FakeTimers timers;
  bool servers_answer = true;
  int stores_that_fail = 0;  // of the next
  bool begins_anew = true;   // the agent is told so once it is there: the switch serves
  std::vector<std::string> failures;
  std::vector<Message> asked;    // of the controller
  std::vector<Key> evicted;      // as it was told
  std::vector<CachedKey> ended;  // the same, with their admissions
  std::unique_ptr<Agent> agent;

  // The switch has just been emptied, and the next agent is told so.
  void fresh() {
    settings_.fresh = true;
    the_switch.snapshot_default = "no_snapshot";
  }
  void start() {
    agent = std::make_unique<Agent>(
        the_switch, timers, settings_,
        [this](Message message, Unanswered::OnAnswer on_answer) {
          if (message.type == MessageType::kEvicted) {
            evicted.push_back(message.records.at(0).key);
            ended.push_back(read_cached(message).at(0));
            return on_answer(answer_to(message));
          }
          if (!the_switch.agent_lives()) return;
          asked.push_back(message);
          to_answer_.emplace_back(std::move(message), std::move(on_answer));
        },
        [this](const std::string& failure) { failures.push_back(failure); });
    the_switch.on_frame([this](const ControlFrame& frame) { agent->received(frame); });
    agent->spawn(agent->adopt());
    run();
    if (begins_anew) tell(MessageType::kServe);
  }

  // A request that names the agent's epoch, and its answer.
  Message tell(MessageType type, std::vector<std::uint32_t> numbers = {},
               std::vector<Record> records = {}, std::uint32_t id = 0) {
    Message question = named(type, std::move(numbers), std::move(records));
    question.id = id;
    Message answered = failure_of(question, "there was no answer");
    const auto alive = std::make_shared<char>();
    agent->handle(question, [&answered, still = std::weak_ptr<char>(alive)](const Message& answer) {
      if (!still.expired()) answered = answer;
    });
    run();
    return answered;
  }
  Message named(MessageType type, std::vector<std::uint32_t> numbers = {},
                std::vector<Record> records = {}) const {
    numbers.push_back(agent->epoch().number);
    return request(type, std::move(numbers), std::move(records));
  }

  // kill -9: what it asked stays asked, nobody takes the answers.
  void kill() {
    the_switch.drop_answers();
    agent.reset();
    to_answer_.clear();
    the_switch.operations_until_death = UINT64_MAX;
  }

  // Until nothing moves any more without time passing; then time passes, while something is due
  // within `patience` steps.
  void run(
      int patience = 5000, const std::function<void()>& between = [] {}) {
    while (patience-- > 0) {
      between();
      if (step()) continue;
      if (idle() || !timers.advance()) return;
    }
  }

  bool step() {
    if (timers.run_due() || the_switch.deliver()) return true;
    if (!servers_answer || to_answer_.empty()) return false;
    const auto [message, on_answer] = std::move(to_answer_.front());
    to_answer_.pop_front();
    if (message.type == MessageType::kStore && stores_that_fail > 0) {
      --stores_that_fail;
      on_answer(failure_of(message, "no"));
      return true;
    }
    const std::uint32_t token = message.numbers.empty() ? 0 : message.numbers.front();
    for (const Record& record : message.records) servers.apply(record, token);
    on_answer(answer_to(message));
    return true;
  }

  // Admits keys as one request of the controller, and runs; whether they were admitted.
  std::vector<bool> admit(const std::vector<Record>& records) {
    std::vector<bool> outcomes;
    agent->handle(request(MessageType::kAdmit, {}, records), [&](const Message& answer) {
      for (const std::uint32_t admission : answer.numbers) outcomes.push_back(admission != 0);
    });
    run();
    return outcomes;
  }

 private:
  bool idle() const { return agent->in_transit() == 0 && !agent->snapshot().is_under_way(); }

  AgentSettings settings_;
  std::deque<std::pair<Message, Unanswered::OnAnswer>> to_answer_;
};

}  // namespace turntable::cache::testing
