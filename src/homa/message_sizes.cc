#include "homa/message_sizes.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "common/command_error.h"

namespace turntable::homa {
namespace {

[[noreturn]] void fail(const std::string& path, std::size_t line, const std::string& what) {
  throw bad_argument(path + ", line " + std::to_string(line) + ": " + what);
}

// The numbers of a line, and nothing else.
bool parse(const std::string& line, std::vector<double>& numbers) {
  std::istringstream words(line);
  numbers.clear();
  std::string word;
  while (words >> word) {
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (*end != '\0' || !std::isfinite(numbers.back())) return false;
  }
  return true;
}

// Sizes that became the same are one point.
std::vector<MessageSizes::Point> mapped(const std::vector<MessageSizes::Point>& points,
                                        const std::function<std::uint32_t(std::uint32_t)>& size) {
  std::vector<MessageSizes::Point> result;
  for (const auto& point : points) {
    const std::uint32_t bytes = size(point.bytes);
    if (result.empty() || result.back().bytes != bytes) {
      result.push_back({bytes, point.probability, point.cumulative});
    } else {
      result.back().probability += point.probability;
      result.back().cumulative = point.cumulative;
    }
  }
  return result;
}

class Table {
 public:
  Table(const std::string& path, std::uint32_t most_bytes) : path_(path), most_bytes_(most_bytes) {}

  // A size may stand in several lines.
  std::vector<MessageSizes::Point> read(std::istream& lines) {
    for (std::string text; std::getline(lines, text);) {
      ++line_;
      std::vector<double> numbers;
      if (!parse(text, numbers) || numbers.size() != (line_ == 1 ? 1U : 2U))
        fail(path_, line_,
             "\"" + text + "\"; expected " +
                 (line_ == 1 ? "the mean size in bytes" : "a size in bytes and a probability"));
      if (line_ == 1) {
        mean_ = numbers[0];
      } else {
        add(numbers[0], numbers[1]);
      }
    }
    check();
    return mapped(points_, [](std::uint32_t size) { return size; });
  }

 private:
  void add(double bytes, double cumulative) {
    if (bytes < 1 || bytes > most_bytes_ || bytes != std::floor(bytes))
      fail(path_, line_,
           "a message of " + text_of(bytes) + " bytes; expected 1 to " +
               std::to_string(most_bytes_));
    const double before = points_.empty() ? 0 : points_.back().cumulative;
    if (!points_.empty() && bytes < points_.back().bytes)
      fail(path_, line_, text_of(bytes) + " bytes; expected no less than the line before");
    if (cumulative < before || cumulative > 1)
      fail(path_, line_,
           "probability " + text_of(cumulative) + "; expected one that does not fall, up to 1");
    points_.push_back({static_cast<std::uint32_t>(bytes), cumulative - before, cumulative});
  }

  void check() const {
    if (points_.empty()) fail(path_, line_, "no sizes; expected the mean and one at least");
    if (points_.back().cumulative != 1)
      fail(path_, line_,
           "the last probability is " + text_of(points_.back().cumulative) + "; expected 1");
    double mean = 0;
    for (const auto& point : points_) mean += point.bytes * point.probability;
    // Published means are of samples, and rounded.
    if (std::abs(mean - mean_) > 0.01 * mean)
      fail(path_, 1,
           "the mean is said to be " + text_of(mean_) + " bytes; that of the sizes is " +
               text_of(mean));
  }

  static std::string text_of(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
  }

  const std::string path_;
  const std::uint32_t most_bytes_;
  std::size_t line_ = 0;
  double mean_ = 0;
  std::vector<MessageSizes::Point> points_;
};

}  // namespace

MessageSizes MessageSizes::fixed(std::uint32_t bytes) {
  if (bytes == 0) throw bad_argument("messages of 0 bytes; expected at least 1");
  return MessageSizes({{bytes, 1, 1}});
}

MessageSizes MessageSizes::read(const std::string& path, std::uint32_t most_bytes) {
  std::ifstream file(path);
  if (!file) throw bad_argument(path + ": cannot be read; expected a table of message sizes");
  return MessageSizes(Table(path, most_bytes).read(file));
}

MessageSizes MessageSizes::parse(const std::string& text, const std::string& name,
                                 std::uint32_t most_bytes) {
  std::istringstream lines(text);
  return MessageSizes(Table(name, most_bytes).read(lines));
}

MessageSizes MessageSizes::capped(std::uint32_t bytes) const {
  if (bytes == 0) throw bad_argument("messages of at most 0 bytes; expected at least 1");
  return MessageSizes(mapped(points_, [&](std::uint32_t size) { return std::min(size, bytes); }));
}

MessageSizes MessageSizes::divided(double by) const {
  if (!(by >= 1)) throw bad_argument("sizes divided by less than 1; expected 1 or more");
  return MessageSizes(mapped(points_, [&](std::uint32_t size) {
    return std::max(1U, static_cast<std::uint32_t>(std::floor(size / by + 0.5)));
  }));
}

std::uint32_t MessageSizes::at(double share) const noexcept {
  const auto point =
      std::upper_bound(points_.begin(), points_.end(), share,
                       [](double value, const Point& of) { return value < of.cumulative; });
  return point == points_.end() ? points_.back().bytes : point->bytes;
}

double MessageSizes::mean() const noexcept {
  double mean = 0;
  for (const Point& point : points_) mean += point.bytes * point.probability;
  return mean;
}

double MessageSizes::unscheduled_share(std::uint32_t rtt_bytes) const noexcept {
  double unscheduled = 0;
  for (const Point& point : points_)
    unscheduled += std::min(point.bytes, rtt_bytes) * point.probability;
  return unscheduled / mean();
}

}  // namespace turntable::homa
