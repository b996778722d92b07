// histogram-encode HIGHEST: reads integers from standard input and prints the encoded histogram.
// For tests that decode it with another implementation.
#include <cstdlib>
#include <iostream>

#include "stats/histogram.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: histogram-encode HIGHEST_TRACKABLE < values\n";
    return 2;
  }
  turntable::stats::Histogram histogram(std::strtoll(argv[1], nullptr, 10));
  for (std::int64_t value = 0; std::cin >> value;) histogram.record(value);
  std::cout << histogram.encode() << '\n';
}
