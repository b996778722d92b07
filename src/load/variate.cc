#include "load/variate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "stats/normal_quantile.h"

namespace turntable::load {
namespace {

constexpr double kLeast = 0x1.0p-54;  // half the distance between draws: 0 itself has no quantile
constexpr double kEuler = 0.57721566490153286;

// ETC: the shares of values of 0 to 14 bytes. The others are larger by a generalised Pareto.
constexpr std::array<double, 15> kEtcShares = {0.00536, 0.00047, 0.17820, 0.09239, 0.00018,
                                               0.02740, 0.00065, 0.00606, 0.00023, 0.00837,
                                               0.00837, 0.08989, 0.00092, 0.00326, 0.01980};
constexpr double kEtcScale = 214.476;
constexpr double kEtcShape = 0.348238;
constexpr double kEtcLeastLarge = 15;

double pareto(double uniform, double location, double scale, double shape) noexcept {
  const double log_rest = std::log1p(-uniform);
  if (shape == 0) return location - scale * log_rest;
  return location + scale * std::expm1(-shape * log_rest) / shape;
}

double pareto_mean(double location, double scale, double shape) noexcept {
  if (shape >= 1) return std::numeric_limits<double>::infinity();
  return location + scale / (1 - shape);
}

double gev(double uniform, double location, double scale, double shape) noexcept {
  const double log_log = std::log(-std::log(std::max(uniform, kLeast)));
  if (shape == 0) return location - scale * log_log;
  return location + scale * std::expm1(-shape * log_log) / shape;
}

double gev_mean(double location, double scale, double shape) noexcept {
  if (shape >= 1) return std::numeric_limits<double>::infinity();
  if (shape == 0) return location + scale * kEuler;
  return location + scale * (std::tgamma(1 - shape) - 1) / shape;
}

double etc_value(double uniform) noexcept {
  double below = 0;
  for (std::size_t bytes = 0; bytes < kEtcShares.size(); ++bytes) {
    below += kEtcShares[bytes];
    if (uniform < below) return static_cast<double>(bytes);
  }
  return pareto((uniform - below) / (1 - below), kEtcLeastLarge, kEtcScale, kEtcShape);
}

double etc_value_mean() noexcept {
  double small = 0, below = 0;
  for (std::size_t bytes = 0; bytes < kEtcShares.size(); ++bytes) {
    small += kEtcShares[bytes] * static_cast<double>(bytes);
    below += kEtcShares[bytes];
  }
  return small + (1 - below) * pareto_mean(kEtcLeastLarge, kEtcScale, kEtcShape);
}

[[noreturn]] void fail(std::string_view text) {
  throw std::invalid_argument(
      "distribution \"" + std::string(text) +
      "\": expected a number, fixed:NUMBER, uniform:MAX or uniform:MIN,MAX, normal:MEAN,SD, "
      "exponential:RATE, pareto:LOCATION,SCALE,SHAPE, gev:LOCATION,SCALE,SHAPE, "
      "lognormal:MEDIAN,SIGMA, bimodal:LOW,HIGH,SHARE, fb_key, fb_value or fb_ia, with numbers "
      "that "
      "make sense for it");
}

std::vector<double> numbers_of(std::string_view text, std::string_view list) {
  std::vector<double> numbers;
  std::string rest(list);
  // mutilate separates by commas; a colon is accepted too.
  std::replace(rest.begin(), rest.end(), ':', ',');
  for (const char* at = rest.c_str();;) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end == at || !std::isfinite(number)) fail(text);
    numbers.push_back(number);
    if (*end == '\0') return numbers;
    if (*end != ',') fail(text);
    at = end + 1;
  }
}

}  // namespace

struct Variate::Form {
  std::string_view name;
  Kind kind;
  std::size_t numbers;
};

const Variate::Form* Variate::form_of(std::string_view name) {
  static constexpr std::array<Form, 8> kForms = {{{"fixed", Kind::kFixed, 1},
                                                  {"uniform", Kind::kUniform, 2},
                                                  {"normal", Kind::kNormal, 2},
                                                  {"exponential", Kind::kExponential, 1},
                                                  {"pareto", Kind::kPareto, 3},
                                                  {"gev", Kind::kGev, 3},
                                                  {"lognormal", Kind::kLognormal, 2},
                                                  {"bimodal", Kind::kBimodal, 3}}};
  for (const Form& form : kForms)
    if (form.name == name) return &form;
  return nullptr;
}

bool Variate::makes_sense(Kind kind, const std::array<double, 3>& numbers) {
  const auto [first, second, third] = numbers;
  switch (kind) {
    case Kind::kUniform:
      return first >= 0 && second >= first;
    case Kind::kExponential:
      return first > 0;
    case Kind::kGev:
      return second >= 0;
    case Kind::kBimodal:
      return first >= 0 && second >= 0 && third >= 0 && third <= 1;
    default:
      return first >= 0 && second >= 0;
  }
}

Variate Variate::parse(std::string_view text) {
  if (text == "fb_key") return {Kind::kGev, {30.7984, 8.20449, 0.078688}, std::string(text)};
  if (text == "fb_ia") return {Kind::kPareto, {0, 16.0292, 0.154971}, std::string(text)};
  if (text == "fb_value") return {Kind::kEtcValue, {}, std::string(text)};
  const std::size_t colon = text.find(':');
  const bool is_number = colon == std::string_view::npos;
  const std::string_view name = is_number ? "fixed" : text.substr(0, colon);
  std::vector<double> given = numbers_of(text, is_number ? text : text.substr(colon + 1));
  if (name == "uniform" && given.size() == 1) given.insert(given.begin(), 0);
  const Form* form = form_of(name);
  if (form == nullptr || form->numbers != given.size()) fail(text);
  given.resize(3);
  const std::array<double, 3> numbers = {given[0], given[1], given[2]};
  if (!makes_sense(form->kind, numbers)) fail(text);
  return {form->kind, numbers, std::string(text)};
}

Variate::Variate(Kind kind, std::array<double, 3> parameters, std::string text)
    : kind_(kind), parameters_(parameters), text_(std::move(text)), mean_(untruncated_mean()) {
  if (kind != Kind::kNormal && kind != Kind::kGev) return;
  // Values below 0 become 0: the mean is higher by the share of them times their mean distance.
  constexpr int kSteps = 100'000;
  double cut = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double value = raw_value((step + 0.5) / kSteps);
    if (value >= 0) break;
    cut -= value;
  }
  mean_ += cut / kSteps;
}

double Variate::value(double uniform) const noexcept {
  return std::max(0.0, raw_value(uniform));
}

double Variate::raw_value(double uniform) const noexcept {
  const auto [first, second, third] = parameters_;
  switch (kind_) {
    case Kind::kFixed:
      return first;
    case Kind::kUniform:
      return first + uniform * (second - first);
    case Kind::kNormal:
      return first + second * stats::normal_quantile(std::max(uniform, kLeast));
    case Kind::kExponential:
      return -std::log1p(-uniform) / first;
    case Kind::kPareto:
      return pareto(uniform, first, second, third);
    case Kind::kGev:
      return gev(uniform, first, second, third);
    case Kind::kLognormal:
      return first * std::exp(second * stats::normal_quantile(std::max(uniform, kLeast)));
    case Kind::kBimodal:
      return uniform < 1 - third ? first : second;
    default:
      return etc_value(uniform);
  }
}

double Variate::untruncated_mean() const noexcept {
  const auto [first, second, third] = parameters_;
  switch (kind_) {
    case Kind::kUniform:
      return (first + second) / 2;
    case Kind::kExponential:
      return 1 / first;
    case Kind::kPareto:
      return pareto_mean(first, second, third);
    case Kind::kGev:
      return gev_mean(first, second, third);
    case Kind::kLognormal:
      return first * std::exp(second * second / 2);
    case Kind::kBimodal:
      return first * (1 - third) + second * third;
    case Kind::kEtcValue:
      return etc_value_mean();
    default:
      return first;
  }
}

}  // namespace turntable::load
