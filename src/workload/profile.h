// A workload: a YCSB profile (docs/workloads.md) plus the size of the run that replays it.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace turntable::workload {

class RecordedTrace;

// Which key number the next request asks for.
enum class Distribution : std::uint8_t {
  kZipfian,     // YCSB's ScrambledZipfianGenerator
  kLatest,      // YCSB's SkewedLatestGenerator
  kUniform,     // YCSB's UniformLongGenerator
  kSequential,  // every record once, in insert order: the load phase
  kRecorded,    // what a file says
};

std::string_view distribution_name(Distribution distribution);

// Shares of the operations; they add up to 1.
struct Proportions {
  double read = 0;
  double update = 0;
  double insert = 0;
  double scan = 0;
  double read_modify_write = 0;
};

struct Workload {
  std::string name;
  Proportions proportions;
  Distribution distribution = Distribution::kZipfian;
  double theta = 0.99;                  // skew of zipfian and latest, in (0, 1)
  std::uint64_t records = 100'000'000;  // key numbers 0 .. records - 1 exist before the run
  std::uint32_t value_bytes = 128;
  std::uint32_t clients = 128;           // logical clients of the whole run
  std::uint64_t operations = 2'000'000;  // requests in all clients' traces together
  std::uint64_t seed = 20230710;
  std::uint32_t round = 0;
  // Null: made up from all the above. Else of that only clients, operations (of the file, at most),
  // and records and value_bytes (the longest), which follow from the file.
  std::shared_ptr<const RecordedTrace> recorded{};
};

// All profiles in the order of the documentation.
const std::vector<Workload>& profiles();

// The workload object of docs/architecture.md §4: "name" selects the profile, the other fields
// override it; or {"name": "trace", "trace": {"file"[, "digest"]}, ...}, which reads no file yet.
// Throws bad_argument naming the field, its value and what was expected.
Workload workload_from_json(const nlohmann::json& object);

// The workload object with every field: workload_from_json(workload_to_json(w)) is w.
nlohmann::json workload_to_json(const Workload& workload);

// Throws bad_argument if the workload cannot be replayed (workloade: range scans).
void check_runnable(const Workload& workload);

}  // namespace turntable::workload
