// The machine's processors and the caches that they share, from /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "placement/cpu_list.h"

namespace turntable {

struct Cpu {
  int number = 0;
  int core = 0;
  int socket = 0;
  int node = 0;
  CpuList siblings;                      // hardware threads of its core, itself among them
  std::map<std::string, CpuList> share;  // "l1d", "l1i", "l2", "l3": who shares that cache
};

struct Topology {
  std::vector<Cpu> cpus;                          // ascending; those that may be used
  std::map<std::string, std::int64_t> cache_kib;  // of the first processor, by the same names

  CpuList numbers() const;
  const Cpu& cpu(int number) const;  // one of numbers()
};

// Of the processors that are online and in `allowed`. `sys`: another directory in tests. Throws
// CommandError "unavailable" when there is none.
Topology read_topology(const std::filesystem::path& sys, const CpuList& allowed);
// Of this machine, for this process.
Topology read_topology();

// One object per processor.
nlohmann::json to_json(const std::vector<Cpu>& cpus);

}  // namespace turntable
