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
    read(Arguments("node command", args, {"scale", "partitions", "workload", "controller"}));
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "bad_argument");
    return error.what();
  }
  return "no error";
}

std::string partitions_message(const Json& partitions) {
  return message_of({{"partitions", partitions}}, [](const Arguments& a) { a.partitions(16); });
}

TEST(KvArgumentsTest, TheScaleDividesTheSlots) {
  EXPECT_EQ(message_of({{"scale", 16}}, [](const Arguments& a) { a.scale(); }), "no error");
  EXPECT_EQ(message_of({{"scale", 0}}, [](const Arguments& a) { a.scale(); }),
            "node command: \"scale\" is 0; expected an integer from 1 to 32768");
  EXPECT_NE(message_of({{"scale", 3}}, [](const Arguments& a) { a.scale(); }), "no error");
}

TEST(KvArgumentsTest, PartitionsAreDistinctAndBelowTheScale) {
  EXPECT_EQ(partitions_message({0, 15}), "no error");
  for (const Json& bad : {Json::array(), Json(3), Json{16}, Json{-1}, Json{"0"}, Json{1, 1}}) {
    EXPECT_NE(partitions_message(bad), "no error") << bad;
  }
  EXPECT_EQ(partitions_message({0, 16}),
            "node command: \"partitions\" is 16; expected an integer from 0 to 15 in each element "
            "(below scale)");
}

TEST(KvArgumentsTest, AControllerIsForNodesThatHaveTheSecret) {
  const Json args = {{"controller", {{"address", "198.18.0.9"}, {"port", 7000}}}};
  EXPECT_EQ(message_of(args,
                       [](const Arguments& a) {
                         const auto controller = a.controller_or_none(/*has_secret=*/true);
                         ASSERT_TRUE(controller.has_value());
                         EXPECT_EQ(ntohs(controller->sin_port), 7000);
                       }),
            "no error");
  EXPECT_NE(message_of(args, [](const Arguments& a) { a.controller_or_none(false); }), "no error");
  EXPECT_EQ(message_of({{"controller", {{"address", "here"}, {"port", 7000}}}},
                       [](const Arguments& a) { a.controller_or_none(true); }),
            "node command: \"controller.address\" is \"here\"; expected an IPv4 address like "
            "198.18.0.1");
}

TEST(KvArgumentsTest, ValuesMustFitTheirPackets) {
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
