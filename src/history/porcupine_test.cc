// The checker against porcupine (Go) on the short histories of tests/history, which says how they
// were made.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "history/checker.h"

namespace turntable::history {
namespace {

using Json = nlohmann::json;

Operation operation_of(const Json& json) {
  const std::string type = json["type"];
  Operation operation{.type = type == "put"      ? OperationType::kPut
                              : type == "delete" ? OperationType::kDelete
                                                 : OperationType::kGet,
                      .key = 1,
                      .invoke_ns = json["begin"],
                      .response_ns = json.value("end", kNever),
                      .version = json.value("version", std::uint64_t{0}),
                      .number = json["number"]};
  operation.found = operation.type == OperationType::kGet && json.contains("version");
  return operation;
}

TEST(Checker, AgreesWithPorcupine) {
  std::ifstream lines(TURNTABLE_JUDGED_HISTORIES);
  std::string line;
  int violations = 0, histories = 0;
  while (std::getline(lines, line)) {
    const Json judged = Json::parse(line);
    std::vector<Operation> history;
    for (const Json& operation : judged["operations"]) history.push_back(operation_of(operation));
    const bool linearizable = check(history).violations.empty();
    EXPECT_EQ(linearizable, judged["linearizable"].get<bool>()) << line;
    violations += linearizable ? 0 : 1;
    ++histories;
  }
  EXPECT_EQ(histories, 400);
  EXPECT_EQ(violations, 61) << "of these porcupine says so";
}

}  // namespace
}  // namespace turntable::history
