#include "swan/aggressor_spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "node/arguments.h"

namespace turntable::swan {
namespace {

using Json = nlohmann::json;

constexpr const char* kCount = "{count}";

std::vector<std::string> words(const std::string& what, const Json& array) {
  std::vector<std::string> words;
  for (const Json& word : array) {
    if (!word.is_string()) {
      throw bad_argument(what + ": " + word.dump() + " in a command; expected strings only");
    }
    words.push_back(word.get<std::string>());
  }
  return words;
}

template <typename Value>
Value one_of(const node::Arguments& arguments, const char* name, const std::string& text,
             const std::map<std::string, Value>& values) {
  const auto value = values.find(text);
  if (value != values.end()) return value->second;
  std::string names;
  for (const auto& [each, unused] : values) names += (names.empty() ? "" : ", ") + each;
  arguments.fail(name, text, "one of " + names);
}

void read_probe(const std::string& what, const Json& json, AggressorSpec& spec) {
  using Probe = AggressorSpec::Probe;
  const node::Arguments probe(what + ", probe", json, {"kind", "seconds", "pattern", "path"});
  spec.probe = one_of<Probe>(probe, "kind", probe.text("kind"),
                             {{"alive", Probe::kAlive},
                              {"cpu", Probe::kCpu},
                              {"line", Probe::kLine},
                              {"file", Probe::kFile}});
  if (spec.probe == Probe::kCpu) spec.probe_seconds = probe.number("seconds", 0.001, 3600);
  if (spec.probe == Probe::kLine) spec.probe_text = probe.text("pattern");
  if (spec.probe == Probe::kFile) spec.probe_text = probe.text("path");
}

void read_progress(const std::string& what, const Json& json, AggressorSpec& spec) {
  using Progress = AggressorSpec::Progress;
  const node::Arguments progress(what + ", progress", json, {"kind", "unit"});
  spec.progress = one_of<Progress>(progress, "kind", progress.text("kind"),
                                   {{"none", Progress::kNone},
                                    {"cpu", Progress::kCpu},
                                    {"lines", Progress::kLines},
                                    {"stress-ng", Progress::kStressNg}});
  const std::map<Progress, std::string> units = {
      {Progress::kCpu, "CPU s"}, {Progress::kLines, "steps"}, {Progress::kStressNg, "bogo ops"}};
  if (spec.progress == Progress::kNone) return;
  spec.unit = progress.text_or("unit", units.at(spec.progress));
}

}  // namespace

AggressorSpec aggressor_spec(const std::string& where, const Json& json) {
  using Place = AggressorSpec::Place;
  const Json known = [&] {
    Json chosen = Json::object();
    for (const char* name : {"name", "command", "placement", "count", "probe", "progress",
                             "fixed_workers", "version", "cache"})
      if (json.contains(name) && !json[name].is_null()) chosen[name] = json[name];
    return chosen;
  }();
  const node::Arguments arguments(where + ", aggressor", known,
                                  {"name", "command", "placement", "count", "probe", "progress",
                                   "fixed_workers", "version", "cache"});
  AggressorSpec spec;
  spec.name = arguments.text("name");
  const std::string what = where + ", aggressor " + spec.name;
  spec.command = words(what, arguments.array("command"));
  spec.place =
      one_of<Place>(arguments, "placement", arguments.text_or("placement", "l3"),
                    {{"l1", Place::kL1}, {"l3", Place::kL3}, {"anywhere", Place::kAnywhere}});
  spec.count = static_cast<int>(arguments.integer_or("count", 1, 4096, 1));
  if (const Json* probe = arguments.object_or_null("probe")) read_probe(what, *probe, spec);
  if (const Json* progress = arguments.object_or_null("progress"))
    read_progress(what, *progress, spec);
  spec.has_fixed_workers = known.contains("fixed_workers")
                               ? arguments.boolean("fixed_workers")
                               : spec.progress == AggressorSpec::Progress::kStressNg;
  if (const Json* cache = arguments.object_or_null("cache")) {
    const node::Arguments part(what + ", cache", *cache, {"level", "kib"});
    spec.cache = {.level = static_cast<int>(part.integer("level", 1, 4)),
                  .kib = part.integer("kib", 1, 1 << 30)};
  }
  if (known.contains("version")) spec.version = words(what, arguments.array("version"));
  return spec;
}

std::string with_values(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string::npos;
    if (end == std::string::npos) {
      result += text[at++];
      continue;
    }
    const std::string name = text.substr(at + 1, end - at - 1);
    const auto value = values.find(name);
    if (value == values.end()) {
      std::string names;
      for (const auto& [each, unused] : values)
        names.append(names.empty() ? "{" : ", {").append(each).append("}");
      std::string what = "aggressor: {";
      what.append(name).append("} in \"").append(text).append("\" is unknown; expected ");
      throw bad_argument(what + names);
    }
    result += value->second;
    at = end + 1;
  }
  return result;
}

std::vector<std::vector<std::string>> command_lines(
    const AggressorSpec& spec, const std::map<std::string, std::string>& values) {
  auto with_count = values;
  with_count["count"] = std::to_string(spec.count);
  std::vector<std::string> line;
  bool counts = false;
  for (const std::string& word : spec.command) {
    counts = counts || word.find(kCount) != std::string::npos;
    line.push_back(with_values(word, with_count));
  }
  return std::vector<std::vector<std::string>>(static_cast<std::size_t>(counts ? 1 : spec.count),
                                               line);
}

}  // namespace turntable::swan
