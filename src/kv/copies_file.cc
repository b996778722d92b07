#include "kv/copies_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "common/command_error.h"
#include "kv/value.h"

namespace turntable::kv {
namespace {

void append_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
}

template <typename Bytes>
void append_bytes(std::string& out, const Bytes& bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

void CopiesFile::add(const ClientCopies::Copy& copy) {
  const auto [at, fresh] = copies_.try_emplace(copy.key, copy);
  if (!fresh && at->second.number < copy.number) at->second = copy;
}

std::size_t CopiesFile::write(const std::filesystem::path& path) const {
  std::string bytes = "TTCOPIES";
  append_number(bytes, static_cast<std::uint32_t>(copies_.size()));
  std::vector<std::uint8_t> value;
  for (const auto& [key, copy] : copies_) {
    append_bytes(bytes, workload::wire_key(key));
    append_number(bytes, copy.number);
    bytes += copy.exists ? '\1' : '\0';
    value.resize(copy.exists ? copy.value_bytes : 0);
    fill_value(value, key, copy.version);
    append_number(bytes, static_cast<std::uint32_t>(value.size()));
    append_bytes(bytes, value);
  }
  const std::filesystem::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code failed;
  if (!file) {
    failed = {errno, std::generic_category()};
  } else {
    std::filesystem::rename(part, path, failed);
  }
  if (failed) {
    throw CommandError("unavailable", "cannot write the copies to " + path.string() + ": " +
                                          failed.message() + "; expected a writable directory");
  }
  return copies_.size();
}

}  // namespace turntable::kv
