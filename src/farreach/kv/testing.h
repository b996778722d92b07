// What the tests of this directory share.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "common/scratch_directory.h"
#include "farreach/kv/store_builder.h"

namespace turntable::kv::testing {

inline constexpr std::atomic<bool> kNotCancelled{false};  // of Traces

// A workload small enough for a test: 4 clients, 400 operations each.
inline workload::Workload small_workload(const std::string& name = "workloada",
                                         std::uint64_t seed = 1) {
  return workload::workload_from_json(
      {{"name", name}, {"records", 10'000}, {"clients", 4}, {"operations", 1600}, {"seed", seed}});
}

// The requests of a file, one after the other those of `clients` clients.
inline workload::Workload recorded_workload(const std::filesystem::path& file,
                                            const std::string& lines, unsigned clients) {
  std::ofstream(file) << lines;
  return workload::workload_from_json(
      {{"name", "trace"}, {"clients", clients}, {"trace", {{"file", file.string()}}}});
}

inline StoreSpec small_spec(const std::string& name = "workloada", std::uint64_t seed = 1) {
  return {.workload = small_workload(name, seed), .scale = 4, .profile = StoreProfile::kEmbedded};
}

}  // namespace turntable::kv::testing
