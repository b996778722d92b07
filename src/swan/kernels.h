// Small loops that press on one part of a processor, or measure it: in iBench's spirit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace turntable::swan {

inline constexpr std::size_t kLineBytes = 64;

struct Line {
  std::uint64_t next;  // of a chase: the index of the line that follows
  std::uint64_t words[kLineBytes / 8 - 1];
};
static_assert(sizeof(Line) == kLineBytes);

// Memory in pages that are there already.
class Buffer {
 public:
  // huge: in large pages where the kernel has them, so that caches are pressed on and not the TLB.
  Buffer(std::size_t bytes, bool huge);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<Line> lines() const { return {lines_, bytes_ / kLineBytes}; }

 private:
  Line* lines_;
  std::size_t bytes_;
};

// A walk through all lines of a buffer in random order, each step needing the one before.
class Chase {
 public:
  Chase(std::size_t bytes, std::uint64_t seed);
  void steps(std::uint64_t count) noexcept;
  std::size_t lines() const { return buffer_.lines().size(); }

 private:
  Buffer buffer_;
  std::uint64_t at_ = 0;
};

// Work that can be done for ever.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // `count` steps, or a few more; how many it did.
  virtual std::uint64_t steps(std::uint64_t count) noexcept = 0;
};

// Reads and writes lines in random order, each by itself. A step is a line.
std::unique_ptr<Kernel> random_lines(std::size_t bytes, bool huge);
// Copies one half of its memory to the other. A step is a line that was read and written.
std::unique_ptr<Kernel> stream(std::size_t bytes);
// Calls functions of one line of code each in random order. A step is a function.
std::unique_ptr<Kernel> code_lines(std::size_t bytes);
inline constexpr std::size_t kMostCodeBytes = 128U << 10U;
// Adds, multiplies and rotates in registers. A step is one of each.
std::unique_ptr<Kernel> integers();

}  // namespace turntable::swan
