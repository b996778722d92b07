#include "net/credentials.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/command_error.h"
#include "common/scratch_directory.h"

namespace turntable::net {
namespace {

TEST(Credentials, ComeFromAFileThatOnlyItsOwnerReads) {
  const ScratchDirectory directory;
  const auto file = directory.path() / "secret";
  const std::string secret(64, 'a');
  std::ofstream(file) << secret << '\n';
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  EXPECT_THROW(Credentials::from_file(file, "/run", "kvserver"), CommandError);
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  EXPECT_EQ(Credentials::from_file(file, "/run", "kvserver").secret(), secret);
  std::ofstream(file) << "short";
  EXPECT_THROW(Credentials::from_file(file, "/run", "kvserver"), CommandError);
  EXPECT_THROW(Credentials::from_file(directory.path() / "none", "/run", "kvserver"), CommandError);
}

}  // namespace
}  // namespace turntable::net
