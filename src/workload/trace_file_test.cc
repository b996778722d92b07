#include "workload/trace_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/scratch_directory.h"

namespace turntable::workload {
namespace {

namespace fs = std::filesystem;

constexpr KeyId kHottest = 2571001333982442796;

class TraceDirectoryTest : public ::testing::Test {
 protected:
  ScratchDirectory directory_;
  const fs::path& root_ = directory_.path();
};

TEST(TraceFile, RecordsHaveTheReferenceLayout) {
  const std::vector<std::uint8_t> expected = {
      0x00, 0x30, 0,    0,    0,    0,    0,    0,    0, 0, 0x6d, 0x14, 0x35, 0x2c,
      0x08, 0x17, 0x23, 0xae, 0x00, 0x01, 0,    0,    0, 0, 0,    0,    0,    0,
      0x6d, 0x14, 0x35, 0x2c, 0x08, 0x17, 0x23, 0xae, 0, 0, 0,    128};
  const std::uint16_t slot = slot_of(kHottest);
  EXPECT_EQ(
      encode_trace({{kHottest, slot, OperationType::kGet}, {kHottest, slot, OperationType::kPut}},
                   128),
      expected);
}

TEST_F(TraceDirectoryTest, WritesFilesAndThenTheManifest) {
  const Workload workload = workload_from_json(
      {{"name", "workloada"}, {"records", 10}, {"clients", 2}, {"operations", 7}});
  TraceDirectory directory(root_ / "traces", workload);
  for (unsigned client = 0; client < 2; ++client) {
    directory.add(client, generate_trace(workload, client));
  }
  EXPECT_FALSE(fs::exists(root_ / "traces/manifest.json"));
  directory.finish();
  const auto manifest = nlohmann::json::parse(std::ifstream(root_ / "traces/manifest.json"));
  EXPECT_EQ(manifest["workload"], workload_to_json(workload));
  EXPECT_EQ(manifest["files"][0]["operations"], 4);
  EXPECT_EQ(manifest["files"][1]["operations"], 3);
  for (const auto& file : manifest["files"]) {
    EXPECT_EQ(fs::file_size(root_ / "traces" / file["file"]), file["size_bytes"]);
  }
}

TEST_F(TraceDirectoryTest, RefusesToOverwrite) {
  std::ofstream(root_ / "something") << "else";
  EXPECT_THROW(TraceDirectory(root_, profiles().front()), CommandError);
  EXPECT_THROW(TraceDirectory(root_ / "something", profiles().front()), CommandError);
}

}  // namespace
}  // namespace turntable::workload
