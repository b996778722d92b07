// YCSB's ZipfianGenerator: the closed form of Gray et al., "Quickly Generating Billion-Record
// Synthetic Databases" (SIGMOD 1994), which draws a rank from one uniform number.
#pragma once

#include <cstdint>

namespace turntable::workload {

class Zipfian {
 public:
  // Ranks 0 .. items - 1; rank 0 is the most popular. `theta` in (0, 1).
  Zipfian(std::uint64_t items, double theta);

  // The generator inside YCSB's ScrambledZipfianGenerator: 10^10 + 1 items, with the constant
  // published for 10^10 items at theta 0.99.
  static Zipfian scrambled(double theta);

  // The item count has grown, as in YCSB: zeta follows, but eta keeps the first item count.
  // A smaller count than before changes nothing except the range of rank().
  void grow(std::uint64_t items);

  // The rank for u in [0, 1).
  std::uint64_t rank(double u) const;

  // Probability that rank(u) < `rank`: the length of the u-interval that leads there.
  double cumulative(std::uint64_t rank) const;

  std::uint64_t items() const { return items_; }
  double zetan() const { return zetan_; }

 private:
  Zipfian(std::uint64_t items, double theta, double zetan);
  void update_eta();

  double theta_;
  std::uint64_t first_items_;  // what eta is computed from
  std::uint64_t items_;
  std::uint64_t zeta_items_;  // what zetan is computed from
  double zetan_;
  double second_;  // zeta(2): below it, uz means rank 0 or 1
  double alpha_;
  double eta_ = 0;
};

}  // namespace turntable::workload
