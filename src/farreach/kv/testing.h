// What the tests of this directory share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "farreach/kv/store_builder.h"

namespace turntable::kv::testing {

// A directory that ends with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "turntable-kv-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot create " + path);
    path_ = path;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A workload small enough for a test: 4 clients, 400 operations each.
inline workload::Workload small_workload(const std::string& name = "workloada",
                                         std::uint64_t seed = 1) {
  return workload::workload_from_json(
      {{"name", name}, {"records", 10'000}, {"clients", 4}, {"operations", 1600}, {"seed", seed}});
}

inline StoreSpec small_spec(const std::string& name = "workloada", std::uint64_t seed = 1) {
  return {.workload = small_workload(name, seed), .scale = 4, .profile = StoreProfile::kEmbedded};
}

}  // namespace turntable::kv::testing
