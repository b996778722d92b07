// check-history: is what clients saw linearizable? docs/history-format.md.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/command_line.h"
#include "common/run_main.h"
#include "common/standard_output.h"
#include "history/checker.h"
#include "history/history_file.h"

namespace {

using namespace turntable::history;
using Json = nlohmann::ordered_json;

constexpr int kClean = 0, kViolations = 1, kBadInput = 2;
constexpr std::int64_t kMsNs = 1'000'000;

Json json_of(const Operation& operation, const std::string& place) {
  constexpr const char* kNames[] = {"get", "put", "delete"};
  const auto if_any = [](bool any, auto value) { return any ? Json(value) : Json(nullptr); };
  const bool is_get = operation.type == OperationType::kGet;
  const bool has_version =
      operation.type == OperationType::kPut || (operation.found && !operation.is_foreign());
  return {{"at", place},
          {"client", operation.client},
          {"op", kNames[static_cast<std::size_t>(operation.type)]},
          {"invoke_ns", operation.invoke_ns},
          {"response_ns", if_any(operation.answered(), operation.response_ns)},
          {"version", if_any(has_version, operation.version)},
          {"number", if_any(operation.answered(), operation.number)},
          {"found", if_any(is_get && operation.answered(), operation.found)}};
}

Json as_json(const Verdict& verdict, const History& history) {
  Json violations = Json::array();
  for (const Violation& violation : verdict.violations) {
    Json operations = Json::array();
    for (const std::size_t i : violation.operations) {
      operations.push_back(json_of(history.operations[i], history.place(i)));
    }
    violations.push_back(
        {{"key", violation.key}, {"what", violation.what}, {"operations", operations}});
  }
  return {{"files", history.files.size()},
          {"operations", verdict.operations},
          {"unanswered", verdict.unanswered},
          {"keys", verdict.keys},
          {"violations", violations}};
}

std::string as_text(const Verdict& verdict, const History& history) {
  std::string text = std::to_string(verdict.operations) + " operations on " +
                     std::to_string(verdict.keys) + " keys checked, " +
                     std::to_string(verdict.unanswered) + " more without an answer: ";
  if (verdict.violations.empty()) return text + "linearizable\n";
  text += std::to_string(verdict.violations.size()) +
          (verdict.violations.size() == 1 ? " key is" : " keys are") + " not linearizable\n";
  for (const Violation& violation : verdict.violations) {
    text += '\n' + describe(violation, history.operations,
                            [&](std::size_t i) { return "  at " + history.place(i); });
  }
  return text;
}

int run(int argc, char** argv) {
  turntable::CommandLine app("check-history",
                             "Whether histories of a key-value store are linearizable");
  std::vector<std::filesystem::path> paths;
  double copy_lifetime_ms = 0;
  bool wants_json = false;
  app.add_option("history", paths, "Files or directories that kvclient wrote: one history")
      ->required();
  const auto* lifetime = app.add_option("--copy-lifetime-ms", copy_lifetime_ms,
                                        "Time after which no copy of a packet is left; without "
                                        "it an unanswered write may take effect at any time")
                             ->check(CLI::Range(0.0, 1e9));
  app.add_flag("--json", wants_json, "Print the result as JSON");
  app.footer("Exit status: 0 linearizable, 1 not linearizable, 2 bad input");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kClean : kBadInput;
  }

  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) std::ranges::copy(history_files(path), std::back_inserter(files));
  std::optional<std::int64_t> lifetime_ns;
  if (lifetime->count() > 0) lifetime_ns = static_cast<std::int64_t>(copy_lifetime_ms * kMsNs);
  const History history = read_history(files, lifetime_ns);
  const Verdict verdict = check(history.operations);
  turntable::print_result(wants_json ? as_json(verdict, history).dump(2) + '\n'
                                     : as_text(verdict, history));
  return verdict.violations.empty() ? kClean : kViolations;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main(
      "check-history", [&] { return run(argc, argv); }, kBadInput);
}
