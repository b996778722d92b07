#include "node/arguments.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::node {
namespace {

using Json = Arguments::Json;
using Read = std::function<void(const Arguments&)>;

// The message of the error that `read` fails with.
std::string message_of(const Json& args, const Read& read) {
  try {
    read(Arguments("node command", args, {"clients", "rate", "work", "wait"}));
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "bad_argument");
    return error.what();
  }
  return "no error";
}

TEST(ArgumentsTest, MessagesSayWhereWhatAndExpected) {
  const Read clients = [](const Arguments& a) { a.integer("clients", 1, 64); };
  EXPECT_EQ(message_of({{"clients", 64}}, clients), "no error");
  EXPECT_EQ(message_of({{"clients", 0}}, clients),
            "node command: \"clients\" is 0; expected an integer from 1 to 64");
  EXPECT_EQ(message_of(Json::object(), clients), "node command: \"clients\" is missing");
  for (const Json& bad : {Json(65), Json(1.5), Json(UINT64_MAX), Json("1"), Json(nullptr)})
    EXPECT_NE(message_of({{"clients", bad}}, clients), "no error") << bad;
  EXPECT_EQ(message_of({{"rate", "fast"}}, [](const Arguments& a) { a.number("rate", 0, 10); }),
            "node command: \"rate\" is \"fast\"; expected a number from 0.0 to 10.0");
  EXPECT_EQ(message_of({{"wait", 1}}, [](const Arguments& a) { a.boolean("wait"); }),
            "node command: \"wait\" is 1; expected true or false");
}

TEST(ArgumentsTest, AMisspeltNameIsRefused) {
  EXPECT_EQ(message_of({{"cleints", 1}}, [](const Arguments&) {}),
            "node command: argument \"cleints\" is unknown; expected clients, rate, work, wait");
}

TEST(ArgumentsTest, WhatIsLeftOutHasADefaultWhereThereIsOne) {
  const Json args = Json::object();
  const Arguments none("node command", args, {"clients", "work"});
  EXPECT_EQ(none.integer_or("clients", 1, 64, 7), 7);
  EXPECT_EQ(none.text_or("clients", "seven"), "seven");
  EXPECT_EQ(none.object_or_null("work"), nullptr);
  EXPECT_EQ(message_of(args, [](const Arguments& a) { a.object("work"); }),
            "node command: \"work\" is missing");
  for (const bool optional : {false, true}) {
    const Read work = [&](const Arguments& a) {
      optional ? a.object_or_null("work") : &a.object("work");
    };
    EXPECT_EQ(message_of({{"work", Json::object()}}, work), "no error");
    EXPECT_EQ(message_of({{"work", 3}}, work), "node command: \"work\" is 3; expected an object");
  }
}

TEST(ArgumentsTest, IntegersAreAtLeastOneEachInRange) {
  const Json args = {{"clients", {3, 0}}};
  EXPECT_EQ(Arguments("node command", args, {"clients"}).integers("clients", 0, 3),
            (std::vector<std::int64_t>{3, 0}));
  const Read clients = [](const Arguments& a) { a.integers("clients", 0, 3, " (below 4)"); };
  EXPECT_EQ(message_of({{"clients", {3, 4}}}, clients),
            "node command: \"clients\" is 4; expected an integer from 0 to 3 in each element "
            "(below 4)");
  EXPECT_EQ(message_of({{"clients", Json::array()}}, clients),
            "node command: \"clients\" is []; expected an array with at least one element");
}

}  // namespace
}  // namespace turntable::node
