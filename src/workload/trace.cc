#include "workload/trace.h"

#include <optional>
#include <string>

#include "common/command_error.h"
#include "workload/key_chooser.h"
#include "workload/random.h"
#include "workload/recorded_trace.h"
#include "workload/transaction.h"

namespace turntable::workload {
namespace {

class TraceGenerator {
 public:
  TraceGenerator(const Workload& workload, unsigned client)
      : workload_(workload),
        client_(client),
        length_(trace_length(workload, client)),
        random_(stream_seed(workload.seed, workload.round, client)),
        transactions_(workload.proportions) {
    if (workload.distribution != Distribution::kSequential) keys_.emplace(workload);
  }

  std::vector<Operation> run() {
    trace_.reserve(length_);
    while (trace_.size() < length_) add_transaction();
    return std::move(trace_);
  }

 private:
  void add_transaction() {
    switch (transactions_.choose(random_.next())) {
      case Transaction::kRead:
        return add(OperationType::kGet, chosen_key());
      case Transaction::kUpdate:
        return add(OperationType::kPut, chosen_key());
      case Transaction::kScan:  // refused by check_runnable
      case Transaction::kInsert:
        return add(OperationType::kPut, inserted_key());
      case Transaction::kReadModifyWrite: {
        const KeyId key = chosen_key();
        add(OperationType::kGet, key);
        return add(OperationType::kPut, key);
      }
    }
  }

  void add(OperationType type, KeyId key) {
    if (trace_.size() < length_) trace_.push_back({.key = key, .slot = slot_of(key), .type = type});
  }

  KeyId chosen_key() { return key_id(keys_->next(random_, newest_record())); }

  // YCSB's clients share one counter of acknowledged inserts. Here every client computes where it
  // would stand if all clients took turns and inserts came at their mean rate.
  std::uint64_t newest_record() const {
    const std::uint64_t requests = trace_.size() * workload_.clients + client_;
    const double inserts = static_cast<double>(requests) * workload_.proportions.insert;
    return workload_.records - 1 + static_cast<std::uint64_t>(inserts);
  }

  KeyId inserted_key() {
    const std::uint64_t number = inserts_++ * workload_.clients + client_;
    if (workload_.distribution == Distribution::kSequential) {
      return key_id(number % workload_.records);
    }
    return key_id(workload_.records + number);
  }

  const Workload& workload_;
  const unsigned client_;
  const std::uint64_t length_;
  Random random_;
  TransactionChooser transactions_;
  std::optional<KeyChooser> keys_;
  std::uint64_t inserts_ = 0;
  std::vector<Operation> trace_;
};

}  // namespace

std::uint64_t trace_length(const Workload& workload, unsigned client) {
  const std::uint64_t remainder = workload.operations % workload.clients;
  return workload.operations / workload.clients + (client < remainder ? 1 : 0);
}

std::vector<Operation> generate_trace(const Workload& workload, unsigned client) {
  check_runnable(workload);
  if (client >= workload.clients) {
    throw bad_argument("client " + std::to_string(client) + " of a workload with " +
                       std::to_string(workload.clients) +
                       " clients; expected a number below that, counted from 0");
  }
  if (workload.recorded) return workload.recorded->traces(workload.clients, client, 1).front();
  return TraceGenerator(workload, client).run();
}

void for_each_trace(const Workload& workload, unsigned first, unsigned count,
                    const TraceVisitor& visit) {
  if (workload.recorded) {
    auto traces = workload.recorded->traces(workload.clients, first, count);
    for (unsigned i = 0; i < count; ++i) visit(first + i, std::move(traces[i]));
    return;
  }
  for (unsigned i = 0; i < count; ++i) visit(first + i, generate_trace(workload, first + i));
}

}  // namespace turntable::workload
