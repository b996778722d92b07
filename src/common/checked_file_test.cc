#include "common/checked_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/scratch_directory.h"

namespace {

enum class Failing { kNothing, kFile, kDirectory } failing = Failing::kNothing;

}  // namespace

// Instead of the C library's: a device that fails at one of the two.
extern "C" int fsync(int fd) {
  struct stat status {};
  ::fstat(fd, &status);
  const Failing what = S_ISDIR(status.st_mode) ? Failing::kDirectory : Failing::kFile;
  if (what == failing) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace turntable {
namespace {

using Json = nlohmann::json;

class CheckedFile : public ::testing::Test {
 protected:
  void SetUp() override { write_checked(path_, "state", {{"number", 1}}); }
  void TearDown() override { failing = Failing::kNothing; }

  ScratchDirectory directory_;
  const std::string path_ = directory_.path() / "state.json";
};

TEST_F(CheckedFile, ReplacesWhatWasThere) {
  write_checked(path_, "state", {{"number", 2}});
  EXPECT_EQ(read_checked(path_, "state"), Json({{"number", 2}}));
  EXPECT_EQ(read_checked(path_ + ".other", "state"), std::nullopt);
}

TEST_F(CheckedFile, AFileThatCannotBeWrittenLeavesTheOldOne) {
  failing = Failing::kFile;
  EXPECT_THROW(write_checked(path_, "state", {{"number", 2}}), std::system_error);
  EXPECT_EQ(read_checked(path_, "state"), Json({{"number", 1}}));
}

// The file has the new state by then: an error would say that it has not.
TEST_F(CheckedFile, AProcessThatCannotSayWhichFileHoldsEnds) {
  failing = Failing::kDirectory;
  EXPECT_EXIT(write_checked(path_, "state", {{"number", 2}}), ::testing::ExitedWithCode(1),
              "the new state is there, but its directory cannot be synced");
}

}  // namespace
}  // namespace turntable
