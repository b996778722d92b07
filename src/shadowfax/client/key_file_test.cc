// Keys of files: what a file must be, and in which order threads ask for its keys.

#include "shadowfax/client/key_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/scratch_directory.h"
#include "shadowfax/client/request_source.h"

namespace turntable::shadowfax {
namespace {

class KeyFileTest : public ::testing::Test {
 protected:
  // The bytes as the original's loader has them: little-endian.
  std::string file(const std::vector<std::uint64_t>& keys, const std::string& behind = "") const {
    std::string path = directory_.path() / "keys";
    std::ofstream out(path, std::ios::binary);
    for (const std::uint64_t key : keys)
      for (unsigned byte = 0; byte < 8; ++byte) out.put(static_cast<char>(key >> (8 * byte)));
    out << behind;
    return path;
  }
  static std::string message_of(const std::string& path, std::optional<std::uint64_t> expected) {
    try {
      const KeyFile read(path, expected);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  const ScratchDirectory directory_;
};

TEST_F(KeyFileTest, HasItsKeys) {
  const std::vector<std::uint64_t> keys = {5, 0x0123456789abcdef, 0, UINT64_MAX};
  const KeyFile read(file(keys), 4);
  EXPECT_EQ(std::vector(read.keys().begin(), read.keys().end()), keys);
}

TEST_F(KeyFileTest, AnotherNumberOfKeysIsRefused) {
  const std::string message = message_of(file({1, 2, 3}), 4);
  EXPECT_TRUE(has(message, "keys has 24 bytes; expected 32: 8 for each of 4 keys")) << message;
}

TEST_F(KeyFileTest, WhatIsNoFileOfKeysIsRefused) {
  EXPECT_TRUE(has(message_of(file({1}, "abc"), {}), "has 11 bytes; expected 8 for each key"));
  EXPECT_TRUE(has(message_of(file({}), {}), "has 0 bytes; expected 8 for each key"));
  EXPECT_TRUE(has(message_of(directory_.path() / "none", {}), "cannot open"));
  EXPECT_TRUE(has(message_of(directory_.path(), {}), "is no file of keys"));
}

// 10 keys, 2 hosts with 2 threads each: they begin at 0, 2, 5 and 7, and go on from the beginning.
TEST_F(KeyFileTest, ThreadsBeginAtEqualDistances) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 10; ++i) keys.push_back(100 + i);
  LoadSettings settings{.threads = 2, .txns_file = std::make_shared<const KeyFile>(file(keys))};
  settings.clients = 2;
  for (unsigned number = 0; number < 4; ++number) {
    settings.client = number / 2;
    RequestSource source(settings, number % 2);
    const std::uint64_t first = std::vector{0, 2, 5, 7}[number];
    for (std::uint64_t i = 0; i < 25; ++i)
      ASSERT_EQ(source.next().key, 100 + (first + i) % 10) << number;
  }
}

}  // namespace
}  // namespace turntable::shadowfax
