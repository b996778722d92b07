// pressure: one thread that presses on one resource of the machine, until it is ended
// (docs/swan.md). It says on what and how large, then `progress N`, its steps so far, about twenty
// times a second.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include "common/clock.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "placement/topology.h"
#include "swan/kernels.h"

namespace turntable::swan {
namespace {

constexpr std::int64_t kReportNs = 50'000'000;
constexpr std::int64_t kSliceNs = 2'000'000;  // between two looks at the clock, about
constexpr std::int64_t kLeastMembwKib = 64 << 10;

// Whole, so that readers see lines; not through a buffer, so that they see them at once.
void say(const std::string& line) {
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error(std::string("standard output: ") + std::strerror(errno));
}

std::int64_t memory_kib() {
  return (::sysconf(_SC_PHYS_PAGES) >> 10) * ::sysconf(_SC_PAGESIZE);
}

// What the machine says of its caches, within a quarter of its memory.
std::int64_t default_kib(const std::string& kernel) {
  const auto caches = read_topology().cache_kib;
  const auto cache = [&](const char* name, std::int64_t otherwise) {
    const auto found = caches.find(name);
    return found == caches.end() || found->second <= 0 ? otherwise : found->second;
  };
  const std::int64_t last = cache("l3", cache("l2", 8 << 10));
  const std::map<std::string, std::int64_t> sizes = {
      {"l1d", cache("l1d", 32)},
      {"l1i", std::min<std::int64_t>(2 * cache("l1i", 32), kMostCodeBytes >> 10U)},
      {"l3", last},
      {"membw", std::max(kLeastMembwKib, 4 * last)}};
  return std::min(sizes.at(kernel), memory_kib() / 4);
}

std::unique_ptr<Kernel> make_kernel(const std::string& name, std::int64_t kib) {
  const std::size_t bytes = static_cast<std::size_t>(kib) << 10U;
  if (name == "l1d") return random_lines(bytes, false);
  if (name == "l3") return random_lines(bytes, true);
  if (name == "membw") return stream(bytes);
  if (bytes <= kMostCodeBytes) return code_lines(bytes);
  throw std::runtime_error("--size-kib is " + std::to_string(kib) + "; expected at most " +
                           std::to_string(kMostCodeBytes >> 10U) + " for l1i");
}

void press(Kernel& kernel, double seconds) {
  const std::int64_t begin = monotonic_ns();
  const std::int64_t end = begin + static_cast<std::int64_t>(seconds * 1e9);
  std::int64_t report_at = begin;
  std::uint64_t slice = 1000;
  std::uint64_t done = 0;
  for (std::int64_t now = begin; seconds <= 0 || now < end;) {
    done += kernel.steps(slice);
    const std::int64_t took = monotonic_ns() - now;
    now += took;
    if (took < kSliceNs / 2) slice *= 2;
    if (took > 2 * kSliceNs) slice = std::max<std::uint64_t>(1, slice / 2);
    if (now < report_at && (seconds <= 0 || now < end)) continue;
    say("progress " + std::to_string(done) + "\n");
    report_at = now + kReportNs;
  }
}

int run(int argc, char** argv) {
  ProgramOptions app("pressure", "Presses on one resource of the machine, in one thread");
  std::string kernel;
  std::int64_t size_kib = 0;
  double seconds = 0;
  app.option("--kernel", kernel, "l1d, l1i, l3 (random lines of that cache) or membw (a copy)")
      .required()
      .one_of({"l1d", "l1i", "l3", "membw"});
  const auto size =
      app.option("--size-kib", size_kib,
                 "Memory or code that it goes through; without it, of this machine's caches")
          .within(1, 1 << 30);
  app.option("--seconds", seconds, "Ends by itself; 0: it does not").shows_default().within(0, 1e7);
  if (const auto status = app.parse(argc, argv)) return *status;
  if (!size.given()) size_kib = default_kib(kernel);
  const auto work = make_kernel(kernel, size_kib);
  say("pressure " + kernel + ": " + std::to_string(size_kib) + " KiB\n");
  press(*work, seconds);
  return 0;
}

}  // namespace
}  // namespace turntable::swan

int main(int argc, char** argv) {
  return turntable::run_main("pressure", [&] { return turntable::swan::run(argc, argv); });
}
