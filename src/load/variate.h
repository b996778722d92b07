// Random quantities named by a text in mutilate's notation: sizes of keys and values, and the
// distances of arrivals.
//
//   30  fixed:30               always 30
//   uniform:MAX  uniform:MIN,MAX
//   normal:MEAN,SD             what would be negative is 0
//   exponential:RATE           its mean is 1 / RATE
//   pareto:LOC,SCALE,SHAPE     generalised Pareto
//   gev:LOC,SCALE,SHAPE        generalised extreme value; what would be negative is 0
//   lognormal:MEDIAN,SIGMA     (this and bimodal are not mutilate's)
//   bimodal:LOW,HIGH,SHARE     HIGH with this probability, else LOW
//   fb_key fb_value fb_ia      Facebook's pool ETC: sizes in bytes, distances in us
//
// A draw is a function of one number from [0, 1), so it is the same on every machine. For
// Facebook's see Atikoglu et al., "Workload analysis of a large-scale key-value store", SIGMETRICS
// 2012.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace turntable::load {

class Variate {
 public:
  // Throws std::invalid_argument that names the text and what was expected.
  static Variate parse(std::string_view text);

  // The value below which a share of `uniform` of the draws lies. Never negative.
  double value(double uniform) const noexcept;
  // Infinite for a shape of 1 or more.
  double mean() const noexcept { return mean_; }

  const std::string& text() const noexcept { return text_; }

 private:
  enum class Kind : std::uint8_t {
    kFixed,
    kUniform,
    kNormal,
    kExponential,
    kPareto,
    kGev,
    kLognormal,
    kBimodal,
    kEtcValue
  };
  struct Form;
  static const Form* form_of(std::string_view name);
  static bool makes_sense(Kind kind, const std::array<double, 3>& numbers);

  Variate(Kind kind, std::array<double, 3> parameters, std::string text);

  double raw_value(double uniform) const noexcept;
  double untruncated_mean() const noexcept;

  Kind kind_;
  std::array<double, 3> parameters_;
  std::string text_;
  double mean_ = 0;
};

}  // namespace turntable::load
