// The random numbers of the traces: xoshiro256** 1.0 (Blackman and Vigna, "Scrambled linear
// pseudorandom number generators", ACM TOMS 2021), seeded by splitmix64 (Steele et al., OOPSLA
// 2014). Our own rather than <random>'s: distributions of the standard library differ between
// platforms.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace turntable::workload {

// 64 random bits as a number in [0, 1), a multiple of 2^-53 as from Java's Random.nextDouble.
constexpr double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t state) : state_(state) {}

  constexpr std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15); }

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) {
    SplitMix64 seeder(seed);
    for (std::uint64_t& word : state_) word = seeder.next();
  }

  // 64 random bits.
  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

// The two steps of stream_seed() that do not depend on the client, and the last one.
constexpr std::uint64_t stream_before_client(std::uint64_t seed, std::uint64_t round) {
  return SplitMix64(SplitMix64(seed).next() ^ round).next();
}
constexpr std::uint64_t stream_seed_of(std::uint64_t before_client, std::uint64_t client) {
  return SplitMix64(before_client ^ client).next();
}

// The seed of one logical client's stream: three chained splitmix64 steps, so that streams of
// neighbouring rounds and clients have nothing in common.
constexpr std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t round, std::uint64_t client) {
  return stream_seed_of(stream_before_client(seed, round), client);
}

}  // namespace turntable::workload
