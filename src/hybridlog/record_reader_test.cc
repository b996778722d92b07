// Records from a device, by an io_uring and by threads.

#include "hybridlog/record_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/sector_memory.h"
#include "hybridlog/sized_value.h"
#include "workload/random.h"

namespace turntable::hybridlog {
namespace {

constexpr std::size_t kFileBytes = std::size_t{1} << 20U;

// A file with records one after the other, of which some have long values.
class RecordReaderTest : public ::testing::TestWithParam<bool> {
 protected:
  struct Written {
    Address address;
    std::uint64_t key;
    std::vector<std::byte> value;
  };

  void SetUp() override {
    const SectorMemory content = sector_memory(kFileBytes);
    std::memset(content.get(), 0, kFileBytes);
    workload::Random random(1);
    for (Address at = 64; at + 80'000 < kFileBytes;) {
      const std::size_t bytes = random.next() % 3 == 0 ? 8 : random.next() % 20'000;
      Written written{at, random.next(), std::vector<std::byte>(bytes)};
      for (std::byte& each : written.value) each = static_cast<std::byte>(random.next());
      // Words, for a record lies at a multiple of 8.
      auto& record = *reinterpret_cast<Record*>(content.get() + at);
      record.header = Header(kNoAddress, 1).word();
      record.key = written.key;
      if (bytes == 8) {
        std::memcpy(&record.value, written.value.data(), 8);
      } else {
        record.header |= Header::kSized;
        record.value = bytes;
        std::copy(written.value.begin(), written.value.end(),
                  reinterpret_cast<std::byte*>(&record + 1));
      }
      at += record.bytes();
      records_.push_back(std::move(written));
    }
    ASSERT_FALSE(device_->write(0, content.get(), kFileBytes));
  }

  std::unique_ptr<RecordReader> open(std::size_t under_way) {
    return open_record_reader(*device_, {.under_way = under_way, .uses_uring = GetParam()});
  }
  static void wait_for(const RecordReader::Ticket& ticket) {
    while (!ticket.is_done()) std::this_thread::yield();
  }

  const ScratchDirectory directory_;
  const std::unique_ptr<Device> device_ = open_file(directory_.path() / "log");
  std::vector<Written> records_;
};

TEST_P(RecordReaderTest, GivesWhatWasWritten) {
  for (const std::size_t under_way : {1U, 4U, 100U}) {
    const auto reader = open(under_way);
    std::vector<std::shared_ptr<RecordReader::Ticket>> tickets;
    for (const Written& written : records_) tickets.push_back(reader->read(written.address));
    for (std::size_t i = 0; i < records_.size(); ++i) {
      wait_for(*tickets[i]);
      ASSERT_FALSE(tickets[i]->error) << tickets[i]->error.message();
      ASSERT_EQ(tickets[i]->record.key, records_[i].key);
      ASSERT_TRUE(std::ranges::equal(tickets[i]->value(), records_[i].value)) << i;
    }
  }
  EXPECT_GT(device_->traffic().reads, 3 * records_.size());  // some need two
}

TEST_P(RecordReaderTest, IsAskedByManyThreads) {
  const auto reader = open(8);
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t i = thread; i < 20 * records_.size(); i += 7) {
        const Written& written = records_[i % records_.size()];
        const auto ticket = reader->read(written.address);
        wait_for(*ticket);
        ASSERT_TRUE(std::ranges::equal(ticket->value(), written.value));
      }
    });
  }
}

TEST_P(RecordReaderTest, BeyondTheEndIsAnError) {
  const auto reader = open(2);
  const auto other = reader->read(kFileBytes + 4096);
  wait_for(*other);
  EXPECT_EQ(other->error, std::errc::io_error);
  const auto good = reader->read(records_[0].address);
  wait_for(*good);
  EXPECT_FALSE(good->error);
}

TEST_P(RecordReaderTest, ALengthThatNoValueHasIsAnError) {
  const auto found = std::ranges::max_element(
      records_, {}, [](const Written& written) { return written.value.size(); });
  const auto reader = open_record_reader(
      *device_,
      {.under_way = 2, .uses_uring = GetParam(), .most_value_bytes = found->value.size() - 1});
  const auto ticket = reader->read(found->address);
  wait_for(*ticket);
  EXPECT_EQ(ticket->error, std::errc::bad_message);
}

// With reads under way, and more waiting.
TEST_P(RecordReaderTest, EndsAtAnyTime) {
  for (int i = 0; i < 50; ++i) {
    const auto reader = open(4);
    for (std::size_t n = 0; n < static_cast<std::size_t>(i); ++n)
      reader->read(records_[n % records_.size()].address);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, RecordReaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Uring" : "Threads"; });

// In memory, for instance.
class NoFile : public Device {
 public:
  std::error_code write(std::uint64_t, const std::byte*, std::size_t) override { return {}; }
  std::error_code read(std::uint64_t, std::byte* data, std::size_t size) override {
    std::memset(data, 1, size);
    return {};
  }
  std::error_code sync() override { return {}; }
};

TEST(OpenRecordReader, ThreadsReadWhatIsNoFile) {
  NoFile device;
  EXPECT_STREQ(open_record_reader(device, {.uses_uring = true})->kind(), "threads");
}

TEST(OpenRecordReader, NobodyHasToUseAnIoUring) {
  const ScratchDirectory directory;
  const auto device = open_file(directory.path() / "log");
  EXPECT_STREQ(open_record_reader(*device, {.uses_uring = false})->kind(), "threads");
}

}  // namespace
}  // namespace turntable::hybridlog
