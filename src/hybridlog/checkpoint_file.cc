#include "hybridlog/checkpoint_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable::hybridlog {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

std::uint64_t crc32_of(const Json& content) {
  const std::string text = content.dump();
  return ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

Json content_of(const Checkpoint& checkpoint) {
  Json sessions = Json::array();
  for (const auto& [id, serial] : checkpoint.serials) sessions.push_back({id.high, id.low, serial});
  return {{"format", kFormat},
          {"version", checkpoint.version},
          {"page_bits", checkpoint.page_bits},
          {"begin", checkpoint.begin},
          {"cut", checkpoint.cut},
          {"end", checkpoint.end},
          {"sessions", sessions}};
}

Checkpoint checkpoint_of(const Json& content) {
  Checkpoint checkpoint;
  content.at("version").get_to(checkpoint.version);
  content.at("page_bits").get_to(checkpoint.page_bits);
  content.at("begin").get_to(checkpoint.begin);
  content.at("cut").get_to(checkpoint.cut);
  content.at("end").get_to(checkpoint.end);
  for (const Json& each : content.at("sessions")) {
    const SessionId id{each.at(0).get<std::uint64_t>(), each.at(1).get<std::uint64_t>()};
    checkpoint.serials[id] = each.at(2).get<std::uint64_t>();
  }
  return checkpoint;
}

void sync_path(const std::string& path, int flags) {
  const UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) throw errno_error("cannot write " + path);
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const Json content = content_of(checkpoint);
  const std::string fresh = path + ".new";
  std::ofstream file(fresh);
  file << Json{{"checkpoint", content}, {"crc32", crc32_of(content)}}.dump(1) << "\n";
  file.close();
  if (!file) throw errno_error("cannot write " + fresh);
  sync_path(fresh, O_RDWR);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) throw errno_error("cannot write " + path);
  const auto directory = std::filesystem::absolute(path).parent_path();
  sync_path(directory, O_RDONLY | O_DIRECTORY);
}

std::optional<Checkpoint> read_checkpoint(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    throw errno_error("cannot read " + path);
  }
  try {
    const Json whole = Json::parse(file);
    const Json& content = whole.at("checkpoint");
    if (whole.at("crc32").get<std::uint64_t>() != crc32_of(content))
      throw CheckpointError(path + ": the checkpoint was changed: its CRC is another one");
    if (content.at("format") != kFormat) {
      throw CheckpointError(path + ": format " + content.at("format").dump() + "; expected " +
                            std::to_string(kFormat));
    }
    return checkpoint_of(content);
  } catch (const Json::exception& error) {
    throw CheckpointError(path + ": no checkpoint: " + error.what());
  }
}

}  // namespace turntable::hybridlog
