// What an aggressor is: an entry of aggressors.yml.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace turntable::swan {

struct AggressorSpec {
  enum class Place : std::uint8_t { kL1, kL3, kAnywhere };
  enum class Probe : std::uint8_t { kAlive, kCpu, kLine, kFile };
  enum class Progress : std::uint8_t { kNone, kCpu, kLines, kStressNg };

  std::string name;
  std::vector<std::string> command;
  Place place = Place::kL3;
  int count = 1;
  Probe probe = Probe::kAlive;
  double probe_seconds = 0;  // of processor time
  std::string probe_text;    // part of a line, or a path
  Progress progress = Progress::kNone;
  std::string unit;
  // The processes that its commands start live until it is ended.
  bool has_fixed_workers = false;
  std::vector<std::string> version;
  // Of {cache_ways}: the level of the cache, and how much of it at most.
  struct Cache {
    int level = 0;
    std::int64_t kib = 0;
  };
  std::optional<Cache> cache;
};

// Of a command's argument: {"name", "command", "placement", ["count"], ["probe"], ["progress"],
// ["fixed_workers"], ["version"], ["cache"], …}; members that it does not know are somebody else's.
// Throws CommandError.
AggressorSpec aggressor_spec(const std::string& where, const nlohmann::json& json);

// The command lines to be started: one with the number in place of {count}, or `count` times the
// same. `values` are those of the other placeholders, by name. Throws CommandError for others.
std::vector<std::vector<std::string>> command_lines(
    const AggressorSpec& spec, const std::map<std::string, std::string>& values);

// One text with its placeholders replaced.
std::string with_values(const std::string& text, const std::map<std::string, std::string>& values);

}  // namespace turntable::swan
