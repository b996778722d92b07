#include "node/log_tail.h"

#include <algorithm>
#include <deque>
#include <fstream>

namespace turntable::node {
namespace {

constexpr std::uint64_t kMaxTailBytes = 16U << 10U;

}  // namespace

std::uint64_t log_size(const std::filesystem::path& log_file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(log_file, error);
  return error ? 0 : size;
}

std::string log_tail(const std::filesystem::path& log_file, std::uint64_t from,
                     std::size_t max_lines) {
  const std::uint64_t size = log_size(log_file);
  const std::uint64_t begin = size > kMaxTailBytes ? std::max(from, size - kMaxTailBytes) : from;
  std::ifstream file(log_file, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(begin));
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > max_lines) lines.pop_front();
  }
  std::string tail;
  for (const std::string& line : lines) tail += (tail.empty() ? "  " : "\n  ") + line;
  return tail.empty() ? "  (empty)" : tail;
}

}  // namespace turntable::node
