#include "workload/zeta.h"

#include <cmath>

namespace turntable::workload {
namespace {

// From here on the expansion is exact to the precision of a double.
constexpr std::uint64_t kExpandedFrom = 64;

// Sum of i^-theta for i in (first, last].
double term_sum(std::uint64_t first, std::uint64_t last, double theta) {
  double sum = 0;
  for (std::uint64_t i = first; i < last; ++i) {
    sum += 1 / std::pow(static_cast<double>(i + 1), theta);
  }
  return sum;
}

// The end-point terms of the Euler-Maclaurin formula for f(x) = x^-theta at x:
// f/2 + B2/2! f' + B4/4! f''' + B6/6! f^(5), with B2 = 1/6, B4 = -1/30, B6 = 1/42.
double end_point(double x, double theta) {
  const double f = std::pow(x, -theta);
  const double first = -theta * f / x;
  const double third = first * (theta + 1) * (theta + 2) / (x * x);
  const double fifth = third * (theta + 3) * (theta + 4) / (x * x);
  return f / 2 + first / 12 - third / 720 + fifth / 30240;
}

// Integral of x^-theta from a to b, exact also when theta is close to 1 or b to a.
double integral(double a, double b, double theta) {
  const double power = 1 - theta;
  return std::pow(a, power) * std::expm1(power * std::log1p((b - a) / a)) / power;
}

}  // namespace

double zeta(std::uint64_t n, double theta) {
  return zeta_between(0, n, theta);
}

double zeta_between(std::uint64_t first, std::uint64_t last, double theta) {
  constexpr std::uint64_t kShort = 8;  // as cheap as the expansion
  if (last <= kExpandedFrom || last - first <= kShort) return term_sum(first, last, theta);
  if (first < kExpandedFrom) {
    return term_sum(first, kExpandedFrom, theta) + zeta_between(kExpandedFrom, last, theta);
  }
  // The sum from a to b is integral + end(b) + f(a) - end(a); here without its first term f(a).
  const auto a = static_cast<double>(first);
  const auto b = static_cast<double>(last);
  return integral(a, b, theta) + end_point(b, theta) - end_point(a, theta);
}

}  // namespace turntable::workload
