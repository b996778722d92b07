// How large messages are: a discrete distribution, read from a table of cumulative probabilities
// (experiments/homa/sizes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace turntable::homa {

class MessageSizes {
 public:
  struct Point {
    std::uint32_t bytes;
    double probability;
    double cumulative;  // of this size and all smaller ones
  };

  static MessageSizes fixed(std::uint32_t bytes);

  // Throws bad_argument that names file and line for what is no such table, and for sizes that are
  // not from 1 to `most_bytes`.
  static MessageSizes read(const std::string& path, std::uint32_t most_bytes = 1U << 30U);
  // The same of a table's text; `name` stands for the file.
  static MessageSizes parse(const std::string& text, const std::string& name,
                            std::uint32_t most_bytes = 1U << 30U);

  // Larger messages have `bytes` instead: their number is the same, the mean is not.
  MessageSizes capped(std::uint32_t bytes) const;

  // Every size is divided, rounded to the nearest (halves up), and at least 1.
  MessageSizes divided(double by) const;

  // The size at `share` of the messages, [0, 1), smallest first. Drawn uniformly, messages have
  // this distribution, and their share is the percentile that they are counted in.
  std::uint32_t at(double share) const noexcept;

  double mean() const noexcept;
  // Share of all bytes that are sent without a grant.
  double unscheduled_share(std::uint32_t rtt_bytes) const noexcept;

  const std::vector<Point>& points() const noexcept { return points_; }  // ascending sizes

 private:
  explicit MessageSizes(std::vector<Point> points) : points_(std::move(points)) {}

  std::vector<Point> points_;
};

}  // namespace turntable::homa
