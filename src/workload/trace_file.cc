#include "workload/trace_file.h"

#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "common/command_error.h"

namespace turntable::workload {
namespace {

// The packet types of docs/architecture.md §3.
constexpr std::uint16_t kGetRequest = 0x0030;
constexpr std::uint16_t kPutRequest = 0x0001;
constexpr std::uint16_t kDeleteRequest = 0x0040;

std::uint16_t optype(OperationType type) {
  switch (type) {
    case OperationType::kGet:
      return kGetRequest;
    case OperationType::kPut:
      return kPutRequest;
    case OperationType::kDelete:
      return kDeleteRequest;
  }
  return 0;
}

void append(std::vector<std::uint8_t>& bytes, std::uint64_t value, int width) {
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

std::string file_name(unsigned client) {
  char name[32];
  std::snprintf(name, sizeof name, "client-%05u.trace", client);
  return name;
}

}  // namespace

std::vector<std::uint8_t> encode_trace(const std::vector<Operation>& trace,
                                       std::uint32_t value_bytes) {
  std::vector<std::uint8_t> bytes;
  for (const Operation& operation : trace) {
    append(bytes, optype(operation.type), 2);
    const KeyBytes key = wire_key(operation.key);
    bytes.insert(bytes.end(), key.begin(), key.end());
    if (operation.type != OperationType::kPut) continue;
    append(bytes, operation.value_bytes != 0 ? operation.value_bytes : value_bytes, 4);
  }
  return bytes;
}

TraceDirectory::TraceDirectory(std::filesystem::path directory, const Workload& workload)
    : directory_(std::move(directory)), workload_(workload) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    throw bad_argument("trace directory " + directory_.string() + ": " + error.message() +
                       "; choose a directory that can be created");
  }
  if (!std::filesystem::is_empty(directory_)) {
    throw bad_argument("trace directory " + directory_.string() +
                       " is not empty; remove it or choose another, traces are never overwritten");
  }
}

void TraceDirectory::write(const std::string& name, const void* data, std::size_t size) const {
  std::ofstream file(directory_ / name, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  file.close();
  if (!file) {
    throw CommandError("unavailable", "cannot write " + (directory_ / name).string() +
                                          "; check free space and permissions");
  }
}

void TraceDirectory::add(unsigned client, const std::vector<Operation>& trace) {
  const std::vector<std::uint8_t> bytes = encode_trace(trace, workload_.value_bytes);
  const std::string name = file_name(client);
  write(name, bytes.data(), bytes.size());
  files_.push_back({{"client", client},
                    {"file", name},
                    {"operations", trace.size()},
                    {"size_bytes", bytes.size()},
                    {"crc32", crc32_z(0, bytes.data(), bytes.size())}});
}

void TraceDirectory::finish() {
  const nlohmann::json manifest = {{"format", "turntable-trace-1"},
                                   {"workload", workload_to_json(workload_)},
                                   {"files", files_}};
  const std::string text = manifest.dump(2) + "\n";
  write("manifest.json", text.data(), text.size());
}

}  // namespace turntable::workload
