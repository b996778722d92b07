// What reads do while a range's hot keys are sought.

#include "hybridlog/sampling.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/testing_client.h"

namespace turntable::hybridlog {
namespace {

using testing::Client;

// Pages can be kept from it: the log has nowhere to go then.
class FullDevice : public Device {
 public:
  explicit FullDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    if (is_full) return std::make_error_code(std::errc::no_space_on_device);
    return device_->write(offset, data, size);
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    return device_->read(offset, data, size);
  }
  std::error_code sync() override { return device_->sync(); }

  std::atomic<bool> is_full{false};

 private:
  const std::unique_ptr<Device> device_;
};

class SamplingTest : public ::testing::Test {
 protected:
  // Keys 0 to count - 1, of which each has its number; all is read-only, and of an older version.
  Address fill(std::uint64_t count) {
    {
      Client client(store_);
      for (std::uint64_t key = 0; key < count; ++key) client.upsert(key, key);
    }
    return store_.checkpoint().cut;
  }
  static Session::Answer read(Client& client, std::uint64_t key) {
    Session::Answer answer = client.read(key);
    while (client.pending() > 0)
      client.complete_pending([&](std::uint64_t, Session::Answer found) { answer = found; });
    return answer;
  }
  // Bytes that the log has become longer by.
  template <typename Do>
  std::uint64_t growth(const Do& act) {
    const Address before = store_.log().tail();
    act();
    return store_.log().tail() - before;
  }

  ScratchDirectory directory_;
  FullDevice* device_ = new FullDevice(open_file(directory_.path() / "log"));
  Store store_{{.index_buckets = 64,
                .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
                .threads = 8,
                .reader_threads = 2},
               std::unique_ptr<Device>(device_)};
};

TEST_F(SamplingTest, AReadCopiesARecordOnce) {
  const Address cut = fill(10);
  Client client(store_);
  EXPECT_EQ(growth([&] { read(client, 1); }), 0U);
  store_.sampling().begin(HashRange{}, cut);
  EXPECT_EQ(growth([&] { EXPECT_EQ(read(client, 1).value, 1U); }), sizeof(Record));
  EXPECT_EQ(growth([&] { EXPECT_EQ(read(client, 1).value, 1U); }), 0U);
  EXPECT_EQ(growth([&] { client.add(1, 5); }), 0U);  // in place
  EXPECT_EQ(read(client, 1).value, 6U);
  EXPECT_EQ(growth([&] { EXPECT_EQ(read(client, 99).status, Status::kNotFound); }), 0U);
  store_.sampling().end();
  EXPECT_EQ(growth([&] { EXPECT_EQ(read(client, 2).value, 2U); }), 0U);
}

TEST_F(SamplingTest, NoOtherRangesRecordIsCopied) {
  const Address cut = fill(2);
  Client client(store_);
  store_.sampling().begin({hash_of(1), hash_of(1)}, cut);
  EXPECT_EQ(growth([&] { read(client, 0); }), 0U);
  EXPECT_EQ(growth([&] { read(client, 1); }), sizeof(Record));
}

TEST_F(SamplingTest, ADeletedKeyIsNotCopied) {
  fill(2);
  {
    Client client(store_);
    client.erase(1);
  }
  store_.sampling().begin(HashRange{}, store_.checkpoint().cut);
  Client client(store_);
  EXPECT_EQ(growth([&] { EXPECT_EQ(read(client, 1).status, Status::kNotFound); }), 0U);
}

constexpr std::uint64_t kMany = 2000;  // of 24 bytes, in memory of 16 KiB

TEST_F(SamplingTest, WhatTheDeviceGaveIsCopied) {
  const Address cut = fill(kMany);
  Client client(store_);
  ASSERT_GT(store_.log().head(), kFirstAddress + sizeof(Record));
  store_.sampling().begin(HashRange{}, cut);
  EXPECT_EQ(growth([&] { EXPECT_EQ(read(client, 0).value, 0U); }), sizeof(Record));
  EXPECT_EQ(client.read(0).status, Status::kOk);  // it is in memory now
}

TEST_F(SamplingTest, AFullDeviceMeansThatNothingIsCopied) {
  const Address cut = fill(kMany);
  Client client(store_);
  device_->is_full = true;
  for (std::uint64_t key = kMany; client.upsert(key, 1) == Status::kOk;) ++key;
  store_.sampling().begin(HashRange{}, cut);
  for (std::uint64_t key = 0; key < kMany; ++key) {
    const Session::Answer answer = read(client, key);
    ASSERT_EQ(answer.status, Status::kOk);
    ASSERT_EQ(answer.value, key);
  }
}

// Reads copy what others add to: no addition is lost.
TEST_F(SamplingTest, SumsOfAdditionsAreExact) {
  constexpr std::uint64_t kRounds = 20, kAdds = 3000, kHot = 40;
  fill(kHot);
  std::atomic<bool> ends{false};
  constexpr int kReaders = 2;
  std::vector<std::jthread> readers;
  readers.reserve(kReaders);
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      Client client(store_);
      while (!ends) {
        for (std::uint64_t key = 0; key < kHot; ++key) client.read(key);
        client.complete_pending([](std::uint64_t, Session::Answer) {});
      }
    });
  }
  std::jthread adder([&] {
    Client client(store_);
    for (std::uint64_t n = 0; n < kRounds * kAdds; ++n) {
      client.add(n % kHot, 1);
      client.complete_pending([](std::uint64_t, Session::Answer) {});
    }
    while (client.complete_pending([](std::uint64_t, Session::Answer) {}) > 0)
      std::this_thread::yield();
    ends = true;
  });
  while (!ends) {
    const Address cut = store_.checkpoint().cut;
    store_.sampling().begin(HashRange{}, cut);
  }
  adder.join();
  readers.clear();
  Client client(store_);
  for (std::uint64_t key = 0; key < kHot; ++key)
    ASSERT_EQ(read(client, key).value, key + kRounds * kAdds / kHot);
}

}  // namespace
}  // namespace turntable::hybridlog
