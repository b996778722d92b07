// Records of a range as they come to its new owner.

#include "shadowfax/server/arrival.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/testing_client.h"
#include "shadowfax/server/moved_record.h"

namespace turntable::shadowfax {
namespace {

using hybridlog::bytes_of;
using hybridlog::testing::Client;

// Its first read of those that are asked for later on waits for the second, if there is one soon.
class OvertakingDevice : public hybridlog::Device {
 public:
  explicit OvertakingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    return device_->write(offset, data, size);
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    if (reads_++ == 0) {
      for (int i = 0; i < 50 && !has_overtaken_; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return device_->read(offset, data, size);
    }
    const std::error_code error = device_->read(offset, data, size);
    // The record must be there before the first read ends.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    has_overtaken_ = true;
    return error;
  }
  std::error_code sync() override { return device_->sync(); }

  void begin() { reads_ = 0; }

 private:
  const std::unique_ptr<Device> device_;
  std::atomic<int> reads_{1};
  std::atomic<bool> has_overtaken_{false};
};

// Both have to look at the device, for another key's record lies in their chain.
TEST(Arrival, TheNewestOfTwoRecordsIsTakenWhicheverTheDeviceAnswersFirst) {
  const ScratchDirectory directory;
  auto* const device = new OvertakingDevice(hybridlog::open_file(directory.path() / "log"));
  hybridlog::Store store({.index_buckets = 1,
                          .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
                          .threads = 4,
                          .reader_threads = 2},
                         std::unique_ptr<hybridlog::Device>(device));
  Commits commits;
  Checkpointer checkpointer(store, commits, directory.path() / "checkpoint.json",
                            std::chrono::hours(1));
  CompactionGate gate;
  Arrival arrival(store, checkpointer, gate);
  constexpr std::uint64_t kOther = 1;
  std::uint64_t key = 2;
  const auto tag_of = [](std::uint64_t of) {
    return hybridlog::IndexEntry::tag_of(hybridlog::hash_of(of));
  };
  while (tag_of(key) != tag_of(kOther)) ++key;

  const hybridlog::Address receives_from = arrival.prepare();
  {
    Client client(store);
    client.upsert(kOther, 5);
    const hybridlog::Address written = store.log().tail();
    for (std::uint64_t pushes = 1U << 20U; store.log().head() < written; ++pushes) {
      if (tag_of(pushes) == tag_of(kOther)) continue;
      ASSERT_EQ(client.upsert(pushes, 1), hybridlog::Status::kOk);
      client.refresh();
    }
  }
  arrival.begin({.id = 1, .range = {}, .receives_from = receives_from});
  std::vector<std::uint8_t> records;
  append(records, hybridlog::ScannedRecord{.key = key, .value = bytes_of(2)});
  append(records, hybridlog::ScannedRecord{.key = key, .value = bytes_of(1)});
  device->begin();
  arrival.take(records);
  arrival.finish();
  arrival.end();
  Client client(store);
  EXPECT_EQ(client.read(key).value, 2U);
}

}  // namespace
}  // namespace turntable::shadowfax
