#include "hybridlog/checkpoint_file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/hex.h"

namespace turntable::hybridlog {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 2, kFormatWithoutLeft = 1;
constexpr const char* kWhat = "checkpoint";

// Throws CheckpointError.
std::vector<std::byte> bytes_of_hex(const std::string& hex) {
  const auto bytes = from_hex(hex);
  if (!bytes) {
    throw CheckpointError("a value in hexadecimal of " + std::to_string(hex.size()) +
                          " digits; expected two of 0 to 9, a to f for each byte");
  }
  const auto values = std::as_bytes(std::span(*bytes));
  return {values.begin(), values.end()};
}

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
                  {"sessions", sessions},
                  {"left", Json::array()}};
  for (const Awaited::Addition& each : checkpoint.left)
    content["left"].push_back({each.key, each.delta, to_hex(each.begins_as)});
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
  if (content.at("format") != kFormatWithoutLeft) {
    for (const Json& each : content.at("left")) {
      checkpoint.left.push_back({.key = each.at(0).get<std::uint64_t>(),
                                 .delta = each.at(1).get<std::uint64_t>(),
                                 .begins_as = bytes_of_hex(each.at(2).get<std::string>())});
    }
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
    const Json& format = content->at("format");
    if (format != kFormat && format != kFormatWithoutLeft) {
      throw CheckpointError(path + ": format " + format.dump() + "; expected " +
                            std::to_string(kFormatWithoutLeft) + " or " + std::to_string(kFormat) +
                            ": use the build that wrote it");
    }
    return checkpoint_of(*content, std::filesystem::path(path).parent_path());
  } catch (const Json::exception& error) {
    throw CheckpointError(path + ": no checkpoint: " + error.what());
  }
}

}  // namespace turntable::hybridlog
