#include "hybridlog/checkpoint_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace turntable::hybridlog {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kWhat = "checkpoint";

Json content_of(const Checkpoint& checkpoint) {
  Json sessions = Json::array();
  for (const auto& [id, serial] : checkpoint.serials) sessions.push_back({id.high, id.low, serial});
  Json content = {{"format", kFormat},
                  {"version", checkpoint.version},
                  {"page_bits", checkpoint.page_bits},
                  {"index_buckets", checkpoint.index_buckets},
                  {"begin", checkpoint.begin},
                  {"cut", checkpoint.cut},
                  {"end", checkpoint.end},
                  {"sessions", sessions}};
  if (const auto& index = checkpoint.index) {
    content["index"] = {{"file", std::filesystem::path(index->path).filename()},
                        {"from", index->from},
                        {"bytes", index->bytes}};
  }
  return content;
}

// directory: of the checkpoint's file, which the index's is in, too.
Checkpoint checkpoint_of(const Json& content, const std::filesystem::path& directory) {
  Checkpoint checkpoint;
  content.at("version").get_to(checkpoint.version);
  content.at("page_bits").get_to(checkpoint.page_bits);
  checkpoint.index_buckets = content.value("index_buckets", std::size_t{0});
  content.at("begin").get_to(checkpoint.begin);
  content.at("cut").get_to(checkpoint.cut);
  content.at("end").get_to(checkpoint.end);
  for (const Json& each : content.at("sessions")) {
    const SessionId id{each.at(0).get<std::uint64_t>(), each.at(1).get<std::uint64_t>()};
    checkpoint.serials[id] = each.at(2).get<std::uint64_t>();
  }
  if (const auto index = content.find("index"); index != content.end()) {
    checkpoint.index = {directory / index->at("file").get<std::string>(),
                        index->at("from").get<Address>(), index->at("bytes").get<std::uint64_t>()};
  }
  return checkpoint;
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  write_checked(path, kWhat, content_of(checkpoint));
}

std::optional<Checkpoint> read_checkpoint(const std::string& path) {
  const std::optional<Json> content = read_checked(path, kWhat);
  if (!content) return std::nullopt;
  try {
    if (content->at("format") != kFormat) {
      throw CheckpointError(path + ": format " + content->at("format").dump() + "; expected " +
                            std::to_string(kFormat));
    }
    return checkpoint_of(*content, std::filesystem::path(path).parent_path());
  } catch (const Json::exception& error) {
    throw CheckpointError(path + ": no checkpoint: " + error.what());
  }
}

}  // namespace turntable::hybridlog
