#include "node/kept.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/scratch_directory.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

TEST(Kept, IsThereForItsKeyAlone) {
  const ScratchDirectory directory;
  const Kept one("a node", directory.path(), "peak", "one");
  EXPECT_TRUE(one.read().is_null());
  one.write({{"found", 7}});
  EXPECT_EQ(Kept("a node", directory.path(), "peak", "one").read()["found"], 7);
  EXPECT_TRUE(Kept("a node", directory.path(), "peak", "other").read().is_null());
  EXPECT_TRUE(Kept("a node", directory.path(), "probe", "one").read().is_null());
  one.write({{"found", 8}});
  EXPECT_EQ(one.read(), (Json{{"found", 8}, {"key", "one"}}));
}

TEST(Kept, AnotherOnesFileIsNamed) {
  const ScratchDirectory directory;
  const Kept kept("a node", directory.path(), "peak", "one");
  for (const char* text : {"", "{", "[1]", "{}"}) {
    std::ofstream(kept.path()) << text;
    try {
      kept.read();
      FAIL() << text;
    } catch (const CommandError& error) {
      EXPECT_NE(std::string(error.what()).find(kept.path()), std::string::npos);
    }
  }
}

TEST(Kept, ADirectoryThatIsNotThereIsNamed) {
  const Kept kept("a node", "/nonexistent", "peak", "one");
  EXPECT_TRUE(kept.read().is_null());
  EXPECT_THROW(kept.write(Json::object()), CommandError);
}

}  // namespace
}  // namespace turntable::node
