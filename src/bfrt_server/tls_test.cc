#include "bfrt_server/tls.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

namespace turntable::bfrt_server {
namespace {

std::string complaint(const TlsFiles& files) {
  try {
    server_credentials(files);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Tls, OnlyTheLoopbackIsWithoutCertificates) {
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"})
    EXPECT_NO_THROW(check_who_may_reach(address, {})) << address;
  for (const char* address : {"10.0.0.1", "128.0.0.1", "fd00::1", "::ffff:10.0.0.1"}) {
    EXPECT_THROW(check_who_may_reach(address, {}), std::runtime_error) << address;
    EXPECT_NO_THROW(check_who_may_reach(address, {"a.pem", "a.key", "ca.pem"})) << address;
  }
}

TEST(Tls, FilesAreGivenTogether) {
  EXPECT_EQ(complaint({}), "");
  EXPECT_NE(complaint({"a.pem", "a.key", ""}).find("--tls-client-ca"), std::string::npos);
}

TEST(Tls, AFileThatIsNoneIsNamed) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "no_certificate";
  std::ofstream(path) << "text";
  EXPECT_NE(complaint({path, path, path}).find(path.string()), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_NE(complaint({path, path, path}).find(path.string()), std::string::npos);
}

}  // namespace
}  // namespace turntable::bfrt_server
