#include "workload/zeta.h"

#include <cmath>

namespace turntable::workload {
namespace {

constexpr std::uint64_t kSummedTerms = 64;

double partial_sum(std::uint64_t n, double theta) {
  double sum = 0;
  for (std::uint64_t i = 1; i <= n; ++i) sum += 1 / std::pow(static_cast<double>(i), theta);
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

// Integral of x^-theta from a to b, exact also when theta is close to 1.
double integral(double a, double b, double theta) {
  const double power = 1 - theta;
  return std::pow(a, power) * std::expm1(power * std::log(b / a)) / power;
}

}  // namespace

double zeta(std::uint64_t n, double theta) {
  if (n <= kSummedTerms) return partial_sum(n, theta);
  // sum from m to n = integral + end(n) + f(m) - end(m), where end_point counts half of f.
  const auto m = static_cast<double>(kSummedTerms);
  const auto last = static_cast<double>(n);
  return partial_sum(kSummedTerms - 1, theta) + integral(m, last, theta) + end_point(last, theta) +
         std::pow(m, -theta) - end_point(m, theta);
}

}  // namespace turntable::workload
