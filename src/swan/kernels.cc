#include "swan/kernels.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "common/errno_error.h"

namespace turntable::swan {
namespace {

constexpr std::size_t kFunctions = kMostCodeBytes / kLineBytes;

// The compiler must take the value for used.
inline void keep(std::uint64_t& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

// xorshift64*: good enough to visit lines, and a few cycles.
inline std::uint64_t next_random(std::uint64_t& state) {
  state ^= state >> 12U;
  state ^= state << 25U;
  state ^= state >> 27U;
  return state * 0x2545f4914f6cdd1dULL;
}

class RandomLines : public Kernel {
 public:
  RandomLines(std::size_t bytes, bool huge) : buffer_(bytes, huge) {}

  std::uint64_t steps(std::uint64_t count) noexcept override {
    const auto lines = buffer_.lines();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t random = next_random(random_) >> 32U;
      Line& line = lines[random * lines.size() >> 32U];
      line.words[0] += random;
    }
    return count;
  }

 private:
  Buffer buffer_;
  std::uint64_t random_ = 0x9e3779b97f4a7c15ULL;
};

class Stream : public Kernel {
 public:
  explicit Stream(std::size_t bytes) : buffer_(bytes, true) {}

  std::uint64_t steps(std::uint64_t count) noexcept override {
    const auto lines = buffer_.lines();
    const std::size_t half = lines.size() / 2;
    std::uint64_t done = 0;
    while (done < count) {
      const std::size_t part = std::min(half - at_, static_cast<std::size_t>(count - done));
      std::memcpy(&lines[half + at_], &lines[at_], part * kLineBytes);
      at_ = (at_ + part) % half;
      done += part;
    }
    return done;
  }

 private:
  Buffer buffer_;
  std::size_t at_ = 0;
};

// One line of code; the number makes each another function.
template <std::size_t Number>
[[gnu::noinline, gnu::aligned(kLineBytes)]] std::uint64_t line_of_code(std::uint64_t value) {
  return std::rotl(value * (2 * Number + 1), Number % 63 + 1) ^ Number;
}

using Function = std::uint64_t (*)(std::uint64_t);

template <std::size_t... Numbers>
std::vector<Function> functions(std::index_sequence<Numbers...> /*unused*/) {
  return {&line_of_code<Numbers>...};
}

class CodeLines : public Kernel {
 public:
  explicit CodeLines(std::size_t bytes)
      : functions_(functions(std::make_index_sequence<kFunctions>())) {
    functions_.resize(std::clamp<std::size_t>(bytes / kLineBytes, 1, kFunctions));
    std::shuffle(functions_.begin(), functions_.end(), std::mt19937_64(1));
  }

  std::uint64_t steps(std::uint64_t count) noexcept override {
    std::uint64_t done = 0;
    for (; done < count; done += functions_.size())
      for (const Function function : functions_) value_ = function(value_);
    return done;
  }

 private:
  std::vector<Function> functions_;
  std::uint64_t value_ = 1;
};

class Integers : public Kernel {
 public:
  std::uint64_t steps(std::uint64_t count) noexcept override {
    for (std::uint64_t i = 0; i < count; ++i) {
      value_ = std::rotl(value_ * 0x2545f4914f6cdd1dULL + i, 7);
      keep(value_);
    }
    return count;
  }

 private:
  std::uint64_t value_ = 1;
};

}  // namespace

Buffer::Buffer(std::size_t bytes, bool huge)
    : bytes_(std::max(2 * kLineBytes, bytes / kLineBytes * kLineBytes)) {
  void* const memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw errno_error("cannot have " + std::to_string(bytes_ >> 10U) + " KiB of memory");
  if (huge) ::madvise(memory, bytes_, MADV_HUGEPAGE);  // a wish
  std::memset(memory, 1, bytes_);
  lines_ = static_cast<Line*>(memory);
}

Buffer::~Buffer() {
  ::munmap(lines_, bytes_);
}

// Sattolo's shuffle makes one ring of all lines.
Chase::Chase(std::size_t bytes, std::uint64_t seed) : buffer_(bytes, false) {
  const auto lines = buffer_.lines();
  std::vector<std::uint32_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[(next_random(seed) >> 32U) * i >> 32U]);
  for (std::size_t i = 0; i < order.size(); ++i) lines[i].next = order[i];
}

void Chase::steps(std::uint64_t count) noexcept {
  const Line* const lines = buffer_.lines().data();
  std::uint64_t at = at_;
  for (std::uint64_t i = 0; i < count; ++i) at = lines[at].next;
  keep(at);
  at_ = at;
}

std::unique_ptr<Kernel> random_lines(std::size_t bytes, bool huge) {
  return std::make_unique<RandomLines>(bytes, huge);
}

std::unique_ptr<Kernel> stream(std::size_t bytes) {
  return std::make_unique<Stream>(bytes);
}

std::unique_ptr<Kernel> code_lines(std::size_t bytes) {
  return std::make_unique<CodeLines>(bytes);
}

std::unique_ptr<Kernel> integers() {
  return std::make_unique<Integers>();
}

}  // namespace turntable::swan
