#include "workload/hottest.h"

#include <numeric>
#include <string>

#include "common/command_error.h"
#include "workload/key_chooser.h"
#include "workload/key_set.h"
#include "workload/recorded_trace.h"

namespace turntable::workload {
namespace {

std::vector<std::uint64_t> first_scattered(const Workload& workload, std::uint64_t k) {
  const std::uint64_t modulus = scrambled_key_numbers(workload);
  KeySet seen(workload.records);
  std::vector<std::uint64_t> numbers;
  numbers.reserve(k);
  for (std::uint64_t rank = 0; numbers.size() < k; ++rank) {
    const std::uint64_t number = fnv_hash(rank) % modulus;
    if (number < workload.records && seen.insert(number)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<std::uint64_t> hottest_key_numbers(const Workload& workload, std::uint64_t k) {
  if (k > workload.records) {
    throw bad_argument("cached keys: " + std::to_string(k) + "; expected at most the " +
                       std::to_string(workload.records) + " records of " + workload.name);
  }
  if (workload.distribution == Distribution::kZipfian && k < workload.records) {
    return first_scattered(workload, k);
  }
  std::vector<std::uint64_t> numbers(k);
  if (workload.distribution == Distribution::kLatest) {
    std::iota(numbers.rbegin(), numbers.rend(), workload.records - k);
  } else {
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  return numbers;
}

std::vector<KeyId> hottest_keys(const Workload& workload, std::uint64_t k) {
  if (workload.recorded) return workload.recorded->hottest(k);
  std::vector<KeyId> ids = hottest_key_numbers(workload, k);
  for (KeyId& id : ids) id = key_id(id);
  return ids;
}

}  // namespace turntable::workload
