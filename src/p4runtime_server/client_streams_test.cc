// Rules: P4Runtime 1.4, "Client Arbitration Update": only the current primary writes.
#include "p4runtime_server/client_streams.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

constexpr int kWriters = 8;

ClientStreams::Update asks_with(std::uint64_t election_id) {
  ClientStreams::Update update;
  update.set_device_id(kDeviceId);
  update.mutable_election_id()->set_low(election_id);
  return update;
}

// Some writes are under way or wait at any time.
TEST(ClientStreams, NothingOfTheOldPrimaryIsDoneAfterTheNewOneIsTold) {
  ClientStreams streams({});
  streams.arbitrate(1, asks_with(1));
  std::atomic<int> written = 0, late = 0;
  std::atomic<bool> told = false;
  const auto write_on = [&] {
    try {
      while (true) {
        streams.as_primary("", asks_with(1).election_id(), [&] {
          ++written;
          std::this_thread::yield();
          if (told) ++late;
        });
      }
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.code(), grpc::StatusCode::PERMISSION_DENIED);
    }
  };
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) writers.emplace_back(write_on);
  while (written < 100) std::this_thread::yield();
  streams.arbitrate(2, asks_with(2));
  told = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(late, 0);
}

}  // namespace
}  // namespace turntable::p4runtime_server
