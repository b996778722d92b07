#include "history/checker.h"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "history/key_history.h"

namespace turntable::history {
namespace {

std::vector<std::size_t> by_key(std::span<const Operation> history) {
  std::vector<std::size_t> order(history.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return history[i].key; });
  return order;
}

std::string read_text(const Operation& get) {
  if (!get.answered()) return "";
  if (!get.found) return " -> absent";
  return get.is_foreign() ? " -> foreign value" : " -> " + std::to_string(get.version);
}

void describe(std::ostream& out, const Operation& operation, std::int64_t zero_ns) {
  const auto us = [&](std::int64_t at_ns) -> std::ostream& {
    return out << std::setw(12) << static_cast<double>(at_ns - zero_ns) / 1000;
  };
  us(operation.invoke_ns) << " .. ";
  if (operation.answered()) {
    us(operation.response_ns) << " us";
  } else {
    out << "      no answer";
  }
  out << "  client " << std::setw(4) << operation.client << "  ";
  switch (operation.type) {
    case OperationType::kPut:
      out << "PUT " << operation.version;
      break;
    case OperationType::kDelete:
      out << "DEL";
      break;
    case OperationType::kGet:
      out << "GET" << read_text(operation);
  }
  if (operation.answered()) out << "  number " << operation.number;
}

}  // namespace

Verdict check(std::span<const Operation> history) {
  Verdict verdict;
  verdict.operations = static_cast<std::size_t>(std::ranges::count_if(
      history, [](const Operation& operation) { return operation.answered(); }));
  verdict.unanswered = history.size() - verdict.operations;
  const std::vector<std::size_t> order = by_key(history);
  for (auto first = order.begin(); first != order.end();) {
    const workload::KeyId key = history[*first].key;
    const auto last =
        std::find_if(first, order.end(), [&](std::size_t i) { return history[i].key != key; });
    ++verdict.keys;
    if (auto found = KeyHistory(history, {first, last}).check()) {
      verdict.violations.push_back({key, std::move(found->what), std::move(found->operations)});
    }
    first = last;
  }
  return verdict;
}

std::string describe(const Violation& violation, std::span<const Operation> history,
                     const std::function<std::string(std::size_t)>& note) {
  std::vector<std::size_t> order = violation.operations;
  std::ranges::sort(order, {}, [&](std::size_t i) { return history[i].invoke_ns; });
  std::ostringstream out;
  out << std::fixed << std::setprecision(3);
  out << "key " << violation.key << ": " << violation.what << '\n';
  for (const std::size_t i : order) {
    out << "  ";
    describe(out, history[i], history[order.front()].invoke_ns);
    out << note(i) << '\n';
  }
  return out.str();
}

}  // namespace turntable::history
