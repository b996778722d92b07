// Traces as files, in the binary format of the FarReach reference, section 5.3: per operation the
// optype (2 bytes) and the wire key (16 bytes), and for a PUT the length of the value (4 bytes).
// All fields are big-endian. Values are not stored; they are made up at replay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "workload/profile.h"
#include "workload/trace.h"

namespace turntable::workload {

std::vector<std::uint8_t> encode_trace(const std::vector<Operation>& trace,
                                       std::uint32_t value_bytes);

// One file client-<number>.trace per client, and last of all manifest.json with the workload and
// each file's size and CRC-32, so that a directory without a manifest is known to be incomplete.
class TraceDirectory {
 public:
  // Creates the directory. Throws bad_argument if it exists and is not empty, or cannot be made.
  TraceDirectory(std::filesystem::path directory, const Workload& workload);

  void add(unsigned client, const std::vector<Operation>& trace);
  void finish();

 private:
  void write(const std::string& name, const void* data, std::size_t size) const;

  std::filesystem::path directory_;
  const Workload& workload_;
  nlohmann::json files_ = nlohmann::json::array();
};

}  // namespace turntable::workload
