#include "hybridlog/device_rate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <system_error>
#include <thread>

namespace turntable::hybridlog {
namespace {

using std::chrono::milliseconds;

// Takes a millisecond for a read, of which one is served at a time by each thread that asks.
class SlowDevice : public Device {
 public:
  std::error_code write(std::uint64_t, const std::byte*, std::size_t) override { return {}; }
  std::error_code read(std::uint64_t offset, std::byte*, std::size_t size) override {
    is_outside_ = is_outside_ || offset < kFrom || offset + size > kTo || size != kSectorBytes;
    std::this_thread::sleep_for(milliseconds(1));
    return error;
  }
  std::error_code sync() override { return {}; }

  bool is_outside() const { return is_outside_; }

  static constexpr std::uint64_t kFrom = kSectorBytes, kTo = 3 * kSectorBytes;
  std::error_code error;

 private:
  std::atomic<bool> is_outside_{false};
};

// No more than 1,000/s of each thread; how many fewer is the machine's.
TEST(DeviceRate, IsThatOfItsThreads) {
  SlowDevice device;
  const double rate =
      random_reads_per_s(device, SlowDevice::kFrom - 10, SlowDevice::kTo + 10, 3, milliseconds(50));
  EXPECT_GT(rate, 0);
  EXPECT_LE(rate, 3'000);
  EXPECT_FALSE(device.is_outside());
}

TEST(DeviceRate, ADeviceThatGivesNothingHasNone) {
  SlowDevice device;
  device.error = std::make_error_code(std::errc::io_error);
  EXPECT_THROW(random_reads_per_s(device, SlowDevice::kFrom, SlowDevice::kTo, 2, milliseconds(50)),
               std::system_error);
}

}  // namespace
}  // namespace turntable::hybridlog
