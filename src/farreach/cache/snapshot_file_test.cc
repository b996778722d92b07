#include "farreach/cache/snapshot_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/scratch_directory.h"

namespace turntable::cache {
namespace {

namespace fs = std::filesystem;

const workload::KeyBytes kKey = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
const workload::KeyBytes kOther = {0, 0, 0, 0, 0, 0, 0, 0, 9, 2, 3, 4, 5, 6, 7, 8};

Snapshot two_records() {
  return {.id = 0x01020304,
          .records = {{.key = kKey, .kind = Record::Kind::kValue, .number = 7, .value = {0xaa}},
                      {.key = kOther, .kind = Record::Kind::kDeleted, .number = 9, .value = {}}}};
}

// The bytes of two_records(), by hand; the CRC-32 by Python's zlib.
const std::string kBytes(
    "TTSNAP01\1\2\3\4"
    "\1\0\0\0\0\0\0\0\0\1\2\3\4\5\6\7\10\0\0\0\7\0\0\0\1\xaa"
    "\0\0\0\0\0\0\0\0\0\11\2\3\4\5\6\7\10\0\0\0\11\0\0\0\0"
    "\xff\0\0\0\2"
    "\x54\xdd\x71\x5d",
    12 + 26 + 25 + 5 + 4);

class SnapshotFileTest : public ::testing::Test {
 protected:
  std::string bytes(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  fs::path path(const char* name) const { return directory_.path() / name; }

  SnapshotDirectory snapshots() { return SnapshotDirectory(directory_.path()); }

 private:
  ScratchDirectory directory_;
};

TEST_F(SnapshotFileTest, HasTheDocumentedBytes) {
  snapshots().save(two_records());
  EXPECT_EQ(bytes(snapshots().path()), kBytes);
  EXPECT_EQ(snapshots().last(), two_records());
}

TEST_F(SnapshotFileTest, HoldsValuesOfAnyLengthAndMoreThanItsBuffer) {
  Snapshot large{.id = 1, .records = {}};
  for (std::uint32_t number = 0; number < 100; ++number) {
    large.records.push_back({.key = kKey,
                             .kind = Record::Kind::kValue,
                             .number = number,
                             .value = std::vector<std::uint8_t>(std::size_t{number} * 500, 0x5a)});
  }
  snapshots().save(large);
  EXPECT_EQ(read_snapshot(snapshots().path()), large);
}

TEST_F(SnapshotFileTest, RefusesEveryCutAndEveryChangedByte) {
  snapshots().save(two_records());
  const std::string whole = bytes(snapshots().path());
  const auto refuses = [&](const std::string& wrong) {
    std::ofstream(path("wrong"), std::ios::binary) << wrong;
    try {
      read_snapshot(path("wrong"));
      return false;
    } catch (const CommandError& error) {
      return error.code() == "unavailable";
    }
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(refuses(whole.substr(0, i))) << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_TRUE(refuses(changed)) << i;
  }
  EXPECT_TRUE(refuses(whole + whole));
}

TEST_F(SnapshotFileTest, AnUnfinishedOneLeavesTheOneBefore) {
  snapshots().save(two_records());
  {
    SnapshotWriter writer(snapshots().path(), 2);
    writer.add(two_records().records.front());
  }
  EXPECT_EQ(snapshots().last(), two_records());
  EXPECT_FALSE(fs::exists(path("snapshot.part")));
}

TEST_F(SnapshotFileTest, IdsGrowOverDeathAndOverALostDirectory) {
  EXPECT_EQ(snapshots().last(), std::nullopt);
  const std::int64_t before_s = realtime_ns() / 1'000'000'000;
  const std::uint32_t first = snapshots().next_id();
  EXPECT_GE(first, before_s);
  EXPECT_EQ(snapshots().next_id(), first + 1);
  EXPECT_EQ(snapshots().next_id(), first + 2);
  std::ofstream(path("snapshot_id")) << 4'000'000'000;  // a clock that is behind
  EXPECT_EQ(snapshots().next_id(), 4'000'000'001);
}

TEST_F(SnapshotFileTest, OneThatIsDiscardedIsGoneAndItsIdNotGivenAgain) {
  const std::uint32_t id = snapshots().next_id();
  snapshots().save(two_records());
  snapshots().discard();
  EXPECT_EQ(snapshots().last(), std::nullopt);
  EXPECT_NO_THROW(snapshots().discard());
  EXPECT_GT(snapshots().next_id(), id);
}

TEST_F(SnapshotFileTest, SaysWhatItCannotWrite) {
  try {
    SnapshotWriter writer(path("none") / "file", 1);
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("none/file"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace turntable::cache
