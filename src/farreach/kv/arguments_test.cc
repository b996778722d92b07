#include "farreach/kv/arguments.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::kv {
namespace {

using Json = Arguments::Json;

// The message of the error that `read` fails with.
template <typename Read>
std::string message_of(const Json& args, Read read) {
  try {
    read(Arguments("node command", args, {"scale", "partitions", "workload", "rate"}));
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "bad_argument");
    return error.what();
  }
  return "no error";
}

std::string partitions_message(const Json& partitions) {
  return message_of({{"partitions", partitions}}, [](const Arguments& a) { a.partitions(16); });
}

TEST(ArgumentsTest, MessagesSayWhereWhatAndExpected) {
  EXPECT_EQ(message_of({{"scale", 0}}, [](const Arguments& a) { a.scale(); }),
            "node command: \"scale\" is 0; expected an integer from 1 to 32768");
  EXPECT_EQ(message_of(Json::object(), [](const Arguments& a) { a.scale(); }),
            "node command: \"scale\" is missing");
  EXPECT_EQ(message_of({{"sclae", 1}}, [](const Arguments&) {}),
            "node command: argument \"sclae\" is unknown; expected scale, partitions, workload, "
            "rate");
  EXPECT_NE(message_of({{"scale", 3}}, [](const Arguments& a) { a.scale(); }), "no error");
  EXPECT_NE(message_of({{"scale", 1.5}}, [](const Arguments& a) { a.scale(); }), "no error");
  EXPECT_NE(message_of({{"scale", UINT64_MAX}}, [](const Arguments& a) { a.scale(); }), "no error");
  EXPECT_EQ(message_of({{"rate", "fast"}}, [](const Arguments& a) { a.number("rate", 0, 10); }),
            "node command: \"rate\" is \"fast\"; expected a number from 0.0 to 10.0");
}

TEST(ArgumentsTest, PartitionsAreDistinctAndBelowTheScale) {
  EXPECT_EQ(partitions_message({0, 15}), "no error");
  for (const Json& bad : {Json::array(), Json(3), Json{16}, Json{-1}, Json{"0"}, Json{1, 1}}) {
    EXPECT_NE(partitions_message(bad), "no error") << bad;
  }
}

TEST(ArgumentsTest, ValuesMustFitTheirPackets) {
  const auto message = [](int bytes) {
    return message_of({{"workload", {{"name", "workloada"}, {"value_bytes", bytes}}}},
                      [](const Arguments& a) { a.workload(); });
  };
  EXPECT_EQ(message(128), "no error");
  EXPECT_EQ(message(65536), "no error");
  EXPECT_NE(message(65537).find("to 65536"), std::string::npos) << message(65537);
}

}  // namespace
}  // namespace turntable::kv
