#include "history/history_file.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

namespace turntable::history {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kFormat = 1;
constexpr std::array kFields = {"client",      "key",     "op",     "invoke_ns", "sends_ns",
                                "response_ns", "version", "number", "node",      "found"};

std::string all_fields() {
  std::string names;
  for (const char* field : kFields) names += (names.empty() ? "" : ", ") + std::string(field);
  return names;
}

// One line of a file; every reader of a field says what it expected.
class Line {
 public:
  Line(std::string place, const std::string& text) : place_(std::move(place)) {
    json_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) {
      fail("this is no JSON object: " + text.substr(0, kQuoted), "one object per line");
    }
  }

  [[noreturn]] void fail(const std::string& what, const std::string& expected) const {
    throw HistoryFileError(place_ + ": " + what + "; expected " + expected +
                           " (docs/history-format.md)");
  }

  [[noreturn]] void wrong(const char* field, const std::string& expected) const {
    fail("\"" + std::string(field) + "\" is " + json_.at(field).dump(), expected);
  }

  void require_fields() const {
    for (const char* field : kFields) {
      if (!json_.contains(field))
        fail("\"" + std::string(field) + "\" is missing", "all of " + all_fields());
    }
    if (json_.size() == kFields.size()) return;
    for (const auto& [name, value] : json_.items()) {
      if (std::ranges::find(kFields, name) == kFields.end())
        fail("\"" + name + "\" is no field", "only " + all_fields());
    }
  }

  bool is_head() const { return json_ == Json{{"history", kFormat}}; }
  bool is_null(const char* field) const { return json_.at(field).is_null(); }
  const Json& at(const char* field) const { return json_.at(field); }

  std::uint64_t integer(const char* field, std::uint64_t largest) const {
    const Json& value = json_.at(field);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > largest)
      wrong(field, "an integer of 0 to " + std::to_string(largest));
    return value.get<std::uint64_t>();
  }

  std::int64_t instant(const char* field) const {
    return static_cast<std::int64_t>(integer(field, INT64_MAX));
  }

  void require_null(const char* field, const std::string& of) const {
    if (!is_null(field)) wrong(field, "null " + of);
  }

 private:
  static constexpr std::size_t kQuoted = 60;

  std::string place_;
  Json json_;
};

OperationType type_of(const Line& line) {
  const Json& op = line.at("op");
  if (op == "get") return OperationType::kGet;
  if (op == "put") return OperationType::kPut;
  if (op == "delete") return OperationType::kDelete;
  line.wrong("op", R"("get", "put" or "delete")");
}

std::int64_t last_send(const Line& line, std::int64_t invoke_ns) {
  const Json& sends = line.at("sends_ns");
  const bool ascending =
      sends.is_array() && !sends.empty() &&
      std::ranges::all_of(sends, [](const Json& send) { return send.is_number_unsigned(); }) &&
      std::ranges::is_sorted(sends) && sends.front().get<std::int64_t>() == invoke_ns;
  if (!ascending) line.wrong("sends_ns", "ascending instants that begin with \"invoke_ns\"");
  return sends.back().get<std::int64_t>();
}

// What an answered operation has and others have not.
void read_answer(const Line& line, Operation& operation) {
  const bool is_get = operation.type == OperationType::kGet;
  if (operation.answered()) {
    if (line.is_null("number")) {
      line.wrong("number",
                 "one with every answer: histories of a method without numbers, such as "
                 "nocache, cannot be checked");
    }
    operation.number = static_cast<std::uint32_t>(line.integer("number", UINT32_MAX));
    line.integer("node", UINT16_MAX);
  } else {
    line.require_null("number", "without an answer");
    line.require_null("node", "without an answer");
  }
  if (!is_get || !operation.answered()) {
    line.require_null("found", "except of a get with an answer");
    return;
  }
  if (!line.at("found").is_boolean()) line.wrong("found", "true or false of a get with an answer");
  operation.found = line.at("found").get<bool>();
}

void read_version(const Line& line, Operation& operation) {
  const bool writes = operation.type == OperationType::kPut;
  if (writes) {
    operation.version = line.integer("version", kForeignValue - 1);
    if (operation.version == 0) line.wrong("version", "another than 0, which is the load's");
  } else if (!operation.found) {
    line.require_null("version", "without a value");
  } else {
    operation.version =
        line.is_null("version") ? kForeignValue : line.integer("version", kForeignValue - 1);
  }
}

Operation operation_of(const Line& line, std::optional<std::int64_t> copy_lifetime_ns) {
  line.require_fields();
  Operation operation{.type = type_of(line),
                      .key = line.integer("key", INT64_MAX),
                      .client = static_cast<std::uint32_t>(line.integer("client", UINT32_MAX)),
                      .invoke_ns = line.instant("invoke_ns")};
  const std::int64_t sent_ns = last_send(line, operation.invoke_ns);
  if (!line.is_null("response_ns")) {
    operation.response_ns = line.instant("response_ns");
    if (operation.response_ns < sent_ns) {
      line.wrong("response_ns", "an instant not before the last transmission, or null");
    }
  }
  if (copy_lifetime_ns && *copy_lifetime_ns < kNever - sent_ns) {
    operation.copies_gone_ns = sent_ns + *copy_lifetime_ns;
  }
  read_answer(line, operation);
  read_version(line, operation);
  return operation;
}

std::string place_text(const std::filesystem::path& file, std::size_t line) {
  return file.string() + ":" + std::to_string(line);
}

void read_file(History& history, std::uint32_t file, std::optional<std::int64_t> lifetime_ns) {
  const std::filesystem::path& path = history.files[file];
  std::ifstream in(path);
  if (!in) throw HistoryFileError(path.string() + ": cannot be read; expected a history");
  std::uint32_t number = 0;
  for (std::string text; std::getline(in, text);) {
    const std::string place = place_text(path, ++number);
    if (in.eof()) {
      throw HistoryFileError(place +
                             ": the last line is cut off; expected a whole file, as \"complete\" "
                             "of kvclient's `stats` says (was the client killed?)");
    }
    const Line line(place, text);
    if (number > 1) {
      history.operations.push_back(operation_of(line, lifetime_ns));
      history.places.push_back({file, number});
    } else if (!line.is_head()) {
      line.fail("this is no head of a history: " + text, "the first line {\"history\":1}");
    }
  }
  if (number == 0) {
    throw HistoryFileError(place_text(path, 1) +
                           ": the file is empty; expected the first line {\"history\":1}");
  }
}

std::vector<std::size_t> indexes(const History& history) {
  std::vector<std::size_t> order(history.operations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// Files of two runs, or one file twice, would make no history.
void require_unique_values(const History& history) {
  std::vector<std::size_t> puts = indexes(history);
  const auto& operations = history.operations;
  std::erase_if(puts, [&](std::size_t i) { return operations[i].type != OperationType::kPut; });
  std::ranges::stable_sort(puts, {}, [&](std::size_t i) { return operations[i].version; });
  const auto twin =
      std::ranges::adjacent_find(puts, {}, [&](std::size_t i) { return operations[i].version; });
  if (twin == puts.end()) return;
  throw HistoryFileError(history.place(*std::next(twin)) + ": version " +
                         std::to_string(operations[*twin].version) + " was written at " +
                         history.place(*twin) +
                         " already; expected every value once: each `prepare` begins a history of "
                         "its own");
}

void require_closed_loops(const History& history) {
  std::vector<std::size_t> order = indexes(history);
  const auto& operations = history.operations;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(operations[i].client, operations[i].invoke_ns);
  });
  const auto overlap = std::ranges::adjacent_find(order, [&](std::size_t a, std::size_t b) {
    return operations[a].client == operations[b].client && operations[a].answered() &&
           operations[b].invoke_ns < operations[a].response_ns;
  });
  if (overlap == order.end()) return;
  throw HistoryFileError(history.place(*std::next(overlap)) + ": client " +
                         std::to_string(operations[*overlap].client) +
                         " begins before its operation at " + history.place(*overlap) +
                         " has ended; expected one thing at a time: are these two runs?");
}

}  // namespace

std::string History::place(std::size_t operation) const {
  return place_text(files[places[operation].file], places[operation].line);
}

std::vector<std::filesystem::path> history_files(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".ndjson") files.push_back(entry.path());
  }
  if (files.empty()) {
    throw HistoryFileError(path.string() +
                           ": no files *.ndjson; expected the directory that "
                           "kvclient's `prepare` had as \"history\"");
  }
  std::ranges::sort(files);
  return files;
}

History read_history(const std::vector<std::filesystem::path>& files,
                     std::optional<std::int64_t> copy_lifetime_ns) {
  History history{.files = files, .operations = {}, .places = {}};
  for (std::uint32_t file = 0; file < files.size(); ++file) {
    read_file(history, file, copy_lifetime_ns);
  }
  require_unique_values(history);
  require_closed_loops(history);
  return history;
}

}  // namespace turntable::history
