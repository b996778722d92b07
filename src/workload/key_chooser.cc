#include "workload/key_chooser.h"

#include <algorithm>
#include <stdexcept>

#include "workload/key.h"

namespace turntable::workload {
namespace {

// Java's Math.abs(nextLong()), with -2^63 taken as 2^63.
std::uint64_t magnitude(std::uint64_t bits) {
  return (bits >> 63) != 0 ? 0 - bits : bits;
}

// SkewedLatestGenerator counts its items as the newest key number, one less than the records.
Zipfian make_zipfian(const Workload& workload) {
  return workload.distribution == Distribution::kLatest
             ? Zipfian(workload.records - 1, workload.theta)
             : Zipfian::scrambled(workload.theta);
}

}  // namespace

std::uint64_t scrambled_key_numbers(const Workload& workload) {
  const double inserts = static_cast<double>(workload.operations) * workload.proportions.insert;
  return workload.records + static_cast<std::uint64_t>(inserts * 2) + 1;
}

KeyChooser::KeyChooser(const Workload& workload)
    : distribution_(workload.distribution),
      records_(workload.records),
      scrambled_key_numbers_(scrambled_key_numbers(workload)),
      zipfian_(make_zipfian(workload)) {
  if (distribution_ == Distribution::kSequential) {
    throw std::logic_error("a sequential workload chooses no keys");
  }
}

std::uint64_t KeyChooser::candidate(std::uint64_t bits, std::uint64_t last) {
  switch (distribution_) {
    case Distribution::kUniform:
      return magnitude(bits) % records_;
    case Distribution::kLatest:
      zipfian_.grow(last);
      return last - std::min(last, zipfian_.rank(unit_interval(bits)));
    default:
      return scrambled_key_numbers_(fnv_hash(zipfian_.rank(unit_interval(bits))));
  }
}

std::uint64_t KeyChooser::next(Random& random, std::uint64_t last) {
  std::uint64_t key_number = candidate(random.next(), last);
  while (key_number > last) key_number = candidate(random.next(), last);
  return key_number;
}

}  // namespace turntable::workload
