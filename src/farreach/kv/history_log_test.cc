#include "farreach/kv/history_log.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/clock.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

// As docs/history-format.md writes them, but for the instants.
TEST(HistoryLogTest, LinesAreAsWrittenInTheFormat) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "h.ndjson";
  const std::int64_t invoke = monotonic_ns();
  {
    HistoryLog log(path);
    const std::array<std::int64_t, 2> twice = {invoke, invoke + 200};
    const auto once = std::span(twice).first(1);
    log.add({.client = 5,
             .key = 10,
             .type = workload::OperationType::kPut,
             .version = 7,
             .sends_ns = twice,
             .invoke_ns = invoke,
             .answer = {{.response_ns = invoke + 300, .number = 12, .node = 0xffff}}});
    log.add({.client = 6,
             .key = 10,
             .type = workload::OperationType::kGet,
             .version = 8,
             .sends_ns = once,
             .invoke_ns = invoke,
             .answer = {{.response_ns = invoke + 1, .number = 12, .node = 3, .version = 7}}});
    log.add({.client = 6,
             .key = 10,
             .type = workload::OperationType::kDelete,
             .version = 9,
             .sends_ns = once,
             .invoke_ns = invoke,
             .answer = {{.response_ns = invoke + 1, .number = 13, .node = 3}}});
    log.add({.client = 6,
             .key = 10,
             .type = workload::OperationType::kGet,
             .version = 10,
             .sends_ns = once,
             .invoke_ns = invoke,
             .answer = {{.response_ns = invoke + 1, .node = 3, .found = false}}});
    log.add({.client = 6,
             .key = 11,
             .type = workload::OperationType::kPut,
             .version = 11,
             .sends_ns = once,
             .invoke_ns = invoke});
    EXPECT_EQ(log.operations(), 5u);
  }
  auto lines = lines_of(path);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], Json::parse(R"({"history": 1})"));
  const std::int64_t to_realtime = -realtime_to_monotonic_ns();
  EXPECT_NEAR(lines[1]["invoke_ns"].get<double>(), static_cast<double>(invoke + to_realtime), 1e7);
  for (Json& line : std::span(lines).subspan(1)) {
    const auto begin = line["invoke_ns"].get<std::int64_t>();
    line["invoke_ns"] = 0;
    for (Json& sent : line["sends_ns"]) sent = sent.get<std::int64_t>() - begin;
    if (!line["response_ns"].is_null())
      line["response_ns"] = line["response_ns"].get<std::int64_t>() - begin;
  }
  EXPECT_EQ(lines[1], Json::parse(R"({"client": 5, "key": 10, "op": "put", "invoke_ns": 0,
      "sends_ns": [0, 200], "response_ns": 300, "version": 7, "number": 12, "node": 65535,
      "found": null})"));
  EXPECT_EQ(lines[2], Json::parse(R"({"client": 6, "key": 10, "op": "get", "invoke_ns": 0,
      "sends_ns": [0], "response_ns": 1, "version": 7, "number": 12, "node": 3, "found": true})"));
  EXPECT_EQ(lines[3], Json::parse(R"({"client": 6, "key": 10, "op": "delete", "invoke_ns": 0,
      "sends_ns": [0], "response_ns": 1, "version": null, "number": 13, "node": 3,
      "found": null})"));
  EXPECT_EQ(lines[4], Json::parse(R"({"client": 6, "key": 10, "op": "get", "invoke_ns": 0,
      "sends_ns": [0], "response_ns": 1, "version": null, "number": null, "node": 3,
      "found": false})"));
  EXPECT_EQ(lines[5], Json::parse(R"({"client": 6, "key": 11, "op": "put", "invoke_ns": 0,
      "sends_ns": [0], "response_ns": null, "version": 11, "number": null, "node": null,
      "found": null})"));
}

TEST(HistoryLogTest, AFullDiskIsNotSilent) {
  HistoryLog log("/dev/full");
  log.flush();
  EXPECT_FALSE(log.complete());
}

}  // namespace
}  // namespace turntable::kv
