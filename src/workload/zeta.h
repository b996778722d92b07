// Generalized harmonic numbers, the normalizing constant of Zipf's law.
#pragma once

#include <cstdint>

namespace turntable::workload {

// zeta(n, theta) = sum of i^-theta for i = 1 .. n, for theta in (0, 1); 0 for n = 0.
// YCSB adds the terms one by one, 10^10 of them for its zipfian workloads. This is a short sum and
// the Euler-Maclaurin expansion of the rest; the relative error is below 1e-14.
double zeta(std::uint64_t n, double theta);

// zeta(last) - zeta(first) for first <= last, without computing either when first is large.
double zeta_between(std::uint64_t first, std::uint64_t last, double theta);

}  // namespace turntable::workload
