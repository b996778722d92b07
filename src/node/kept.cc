#include "node/kept.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/command_error.h"

namespace turntable::node {
namespace {

std::string hash_of(const std::string& key) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
  return hex.data();
}

}  // namespace

Kept::Kept(std::string where, const std::string& directory, const std::string& kind,
           std::string key)
    : where_(std::move(where)),
      key_(std::move(key)),
      path_(directory + "/" + kind + "-" + hash_of(key_) + ".json") {}

Kept::Json Kept::read() const {
  std::ifstream file(path_);
  if (!file) return nullptr;
  Json kept = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object() || !kept.contains("key")) {
    throw CommandError("unavailable",
                       where_ + ": " + path_ + " was not written by this command; remove it");
  }
  return kept["key"] == key_ ? kept : Json();
}

void Kept::write(Json value) const {
  value["key"] = key_;
  const std::string fresh = path_ + ".new";
  std::ofstream file(fresh);
  file << value.dump(1) << "\n";
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(fresh, path_, error);
  if (!file || error) {
    throw CommandError("unavailable", where_ + ": " + path_ +
                                          " cannot be written; expected a directory that exists "
                                          "and has room");
  }
}

}  // namespace turntable::node
