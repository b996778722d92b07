#include "workload/zipfian.h"

#include <algorithm>
#include <cmath>

#include "workload/zeta.h"

namespace turntable::workload {
namespace {

constexpr std::uint64_t kScrambledItems = 10'000'000'000;
constexpr double kPublishedTheta = 0.99;
// YCSB's ZETAN: its running sum over 10^10 terms at theta 0.99.
constexpr double kPublishedZeta = 26.46902820178302;

}  // namespace

Zipfian::Zipfian(std::uint64_t items, double theta) : Zipfian(items, theta, zeta(items, theta)) {}

Zipfian::Zipfian(std::uint64_t items, double theta, double zetan)
    : theta_(theta),
      first_items_(items),
      items_(items),
      zeta_items_(items),
      zetan_(zetan),
      second_(1 + std::pow(0.5, theta)),
      alpha_(1 / (1 - theta)) {
  update_eta();
}

Zipfian Zipfian::scrambled(double theta) {
  const std::uint64_t items = kScrambledItems + 1;  // YCSB passes the inclusive range 0 .. 10^10
  return theta == kPublishedTheta ? Zipfian(items, theta, kPublishedZeta) : Zipfian(items, theta);
}

void Zipfian::update_eta() {
  eta_ = (1 - std::pow(2 / static_cast<double>(first_items_), 1 - theta_)) / (1 - second_ / zetan_);
}

void Zipfian::grow(std::uint64_t items) {
  items_ = items;
  if (items <= zeta_items_) return;
  zetan_ += zeta_between(zeta_items_, items, theta_);
  zeta_items_ = items;
  update_eta();
}

std::uint64_t Zipfian::rank(double u) const {
  const double uz = u * zetan_;
  if (uz < 1) return 0;
  if (uz < second_) return 1;
  const double rank = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, alpha_);
  // Fewer than three items make eta 0/0 or infinite; Java casts a NaN to 0.
  if (!(rank >= 0)) return 0;
  return static_cast<std::uint64_t>(std::min(rank, static_cast<double>(items_)));
}

double Zipfian::cumulative(std::uint64_t rank) const {
  if (rank == 0) return 0;
  if (rank >= items_) return 1;
  if (rank == 1) return std::min(1.0, 1 / zetan_);
  const double low = std::min(1.0, second_ / zetan_);
  if (!std::isfinite(eta_) || eta_ == 0) return rank == 2 ? low : 1;
  // Solve rank(u) = rank for u; expm1 because 1 - theta, and with it the difference, may be tiny.
  const double relative = static_cast<double>(rank) / static_cast<double>(items_);
  const double u = 1 + std::expm1((1 - theta_) * std::log(relative)) / eta_;
  return std::clamp(u, low, 1.0);
}

}  // namespace turntable::workload
