#include "hybridlog/device_rate.h"

#include <array>
#include <system_error>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "workload/random.h"

namespace turntable::hybridlog {
namespace {

constexpr std::size_t kSector = Device::kSectorBytes;

struct Reads {
  std::uint64_t count = 0;
  std::error_code error;
};

void read_until(Device& device, std::uint64_t first, std::uint64_t sectors, std::uint64_t seed,
                std::int64_t until_ns, Reads& done) {
  alignas(kSector) std::array<std::byte, kSector> sector;
  workload::Random random(seed);
  for (; !done.error && monotonic_ns() < until_ns; ++done.count)
    done.error =
        device.read((first + random.next() % sectors) * kSector, sector.data(), sector.size());
}

}  // namespace

double random_reads_per_s(Device& device, std::uint64_t from, std::uint64_t to, std::size_t threads,
                          std::chrono::nanoseconds duration) {
  const std::uint64_t first = (from + kSector - 1) / kSector, sectors = to / kSector - first;
  std::vector<Reads> reads(threads);
  const std::int64_t begin_ns = monotonic_ns(), until_ns = begin_ns + duration.count();
  {
    std::vector<std::jthread> readers;
    for (std::size_t i = 0; i < threads; ++i) {
      readers.emplace_back(
          [&, i] { read_until(device, first, sectors, i + 1, until_ns, reads[i]); });
    }
  }
  const double seconds = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  std::uint64_t count = 0;
  for (const Reads& one : reads) {
    if (one.error) throw std::system_error(one.error, "cannot read the log's file");
    count += one.count;
  }
  return static_cast<double>(count) / seconds;
}

}  // namespace turntable::hybridlog
