#include "dataplane/hash_matrix.h"

#include "dataplane/crc.h"

namespace turntable::dataplane {
namespace {

std::uint64_t low_mask(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// Times x, modulo the polynomial.
std::uint64_t next_power(std::uint64_t power, const HashAlgorithm& crc) {
  const bool carry = (power >> (crc.width - 1) & 1) != 0;
  return (power << 1 ^ (carry ? crc.polynomial : 0)) & low_mask(crc.width);
}

std::uint64_t widened(std::uint64_t value, const HashAlgorithm& algorithm, int width) {
  std::uint64_t result = value;
  if (algorithm.extend) {
    for (int shift = algorithm.width; shift < width; shift += algorithm.width)
      result |= value << shift;
  }
  return result & low_mask(width);
}

// A message of no whole bytes has zeros before it. Of a reversed CRC the bytes stay in their order.
struct CrcParts {
  CrcParts(const HashAlgorithm& crc, int bits) {
    const int padded = (bits + 7) / 8 * 8;
    std::uint64_t power = crc.polynomial;
    std::vector<std::uint64_t> powers;
    std::uint64_t state = crc.initial;
    for (int i = 0; i < padded; ++i) {
      powers.push_back(power);
      power = next_power(power, crc);
      state = next_power(state, crc);
    }
    for (int bit = 0; bit < bits; ++bit)
      of_bit.push_back(turned(powers[static_cast<std::size_t>(crc.reverse ? bit ^ 7 : bit)], crc));
    // As in an SDE: nothing hashes to zero.
    if (bits > 0) of_zeros = turned(state ^ crc.final_xor, crc);
  }

  static std::uint64_t turned(std::uint64_t value, const HashAlgorithm& crc) {
    return crc.reverse ? reflect_bits(value, crc.width) : value;
  }

  std::vector<std::uint64_t> of_bit;  // from the last one on
  std::uint64_t of_zeros = 0;
};

std::uint64_t word_bit(int bit, int bits, int word) {
  const int zeros_behind = (word - bits % word) % word;
  return std::uint64_t{1} << (bit + zeros_behind) % word;
}

}  // namespace

HashMatrix::HashMatrix(const HashAlgorithm& algorithm, std::span<const int> message, int bytes,
                       int width)
    : columns_(static_cast<std::size_t>(bytes) * 8) {
  using Kind = HashAlgorithm::Kind;
  const int bits = static_cast<int>(message.size());
  std::vector<std::uint64_t> of_bit;
  if (algorithm.kind == Kind::kCrc || algorithm.kind == Kind::kRandom) {
    CrcParts crc(algorithm, bits);
    of_bit = std::move(crc.of_bit);
    seed_ = widened(crc.of_zeros, algorithm, width);
  } else {
    for (int bit = 0; bit < bits; ++bit) {
      const bool is_xor = algorithm.kind == Kind::kXor;
      of_bit.push_back(is_xor     ? word_bit(bit, bits, algorithm.width)
                       : bit < 64 ? std::uint64_t{1} << bit
                                  : 0);
    }
  }
  for (std::size_t bit = 0; bit < message.size(); ++bit)
    columns_[static_cast<std::size_t>(message[bit])] ^= widened(of_bit[bit], algorithm, width);
}

void HashMatrix::add_symmetry(int first, int second, bool both) {
  std::uint64_t& one = columns_[static_cast<std::size_t>(first)];
  std::uint64_t& other = columns_[static_cast<std::size_t>(second)];
  if (both) {
    one = other = one ^ other;
  } else {
    one = other;
  }
}

void HashMatrix::rotate(int low, int bits, int by) {
  if (by == 0) return;
  const std::uint64_t mask = low_mask(bits) << low;
  const auto rotated = [&](std::uint64_t value) {
    const std::uint64_t part = (value & mask) >> low;
    const std::uint64_t turned = (part << by | part >> (bits - by)) & low_mask(bits);
    return (value & ~mask) | turned << low;
  };
  seed_ = rotated(seed_);
  for (std::uint64_t& column : columns_) column = rotated(column);
}

void HashMatrix::finish() {
  tables_.assign(columns_.size() / 8, {});
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    for (std::size_t value = 1; value < 256; ++value) {
      const auto lowest = static_cast<std::size_t>(__builtin_ctzll(value));
      tables_[i][value] = tables_[i][value & (value - 1)] ^ columns_[8 * i + lowest];
    }
  }
}

}  // namespace turntable::dataplane
