#include "netclone/distribution.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/command_error.h"
#include "netclone/draws.h"
#include "node/arguments.h"
#include "stats/normal_quantile.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;
using Atom = Distribution::Atoms::Atom;

constexpr double kMaxUs = 1e7;  // 10 s
constexpr double kMaxSigma = 4;
constexpr double kMaxFactor = 1e4;
constexpr const char* kNames =
    "fixed, exponential, bimodal, trimodal, lognormal, histogram, exp25, bimodal25, exp50 or "
    "bimodal50";

double us(const node::Arguments& fields, const char* name) {
  return fields.number(name, 0, kMaxUs);
}

double share(const node::Arguments& fields, const char* name) {
  return fields.number(name, 0, 1);
}

Distribution bimodal(double short_us, double long_us, double long_share) {
  return Distribution(Distribution::Atoms{{{short_us, 1 - long_share}, {long_us, 1}}});
}

Distribution trimodal(const node::Arguments& fields) {
  const double middle = share(fields, "middle_share");
  const double longest = fields.number("long_share", 0, 1 - middle);
  return Distribution(Distribution::Atoms{{{us(fields, "short_us"), 1 - middle - longest},
                                           {us(fields, "middle_us"), 1 - longest},
                                           {us(fields, "long_us"), 1}}});
}

Distribution log_normal(const node::Arguments& fields) {
  const double mean = fields.number("mean_us", 1e-3, kMaxUs);
  const double sigma = fields.number("sigma", 0, kMaxSigma);
  return Distribution(Distribution::LogNormal{std::log(mean) - sigma * sigma / 2, sigma});
}

// Its count stands in `until` until all are known.
Atom bin(const node::Arguments& fields, const Json& json) {
  const bool fits = json.is_array() && json.size() == 2 && json[0].is_number() &&
                    json[1].is_number() && json[0] >= 0 && json[0] <= kMaxUs && json[1] >= 0;
  if (!fits) fields.fail("bins", json, "[us, count] in each element, neither negative");
  return {json[0].get<double>(), json[1].get<double>()};
}

Distribution histogram(const node::Arguments& fields) {
  const Json& bins = fields.array("bins");
  std::vector<Atom> atoms;
  for (const Json& json : bins) atoms.push_back(bin(fields, json));
  std::sort(atoms.begin(), atoms.end(), [](const Atom& a, const Atom& b) { return a.us < b.us; });
  double total = 0;
  for (Atom& atom : atoms) atom.until = total += atom.until;
  if (!(total > 0)) fields.fail("bins", bins, "at least one count above 0");
  for (Atom& atom : atoms) atom.until /= total;
  return Distribution(Distribution::Atoms{std::move(atoms)});
}

Distribution parametric(const std::string& name, const std::string& where, const Json& json) {
  if (name == "fixed") {
    const node::Arguments fields(where, json, {"distribution", "us"});
    return Distribution(Distribution::Fixed{us(fields, "us")});
  }
  if (name == "exponential") {
    const node::Arguments fields(where, json, {"distribution", "mean_us"});
    return Distribution(Distribution::Exponential{us(fields, "mean_us")});
  }
  if (name == "bimodal") {
    const node::Arguments fields(where, json,
                                 {"distribution", "short_us", "long_us", "long_share"});
    return bimodal(us(fields, "short_us"), us(fields, "long_us"), share(fields, "long_share"));
  }
  if (name == "trimodal") {
    return trimodal(node::Arguments(
        where, json,
        {"distribution", "short_us", "middle_us", "long_us", "middle_share", "long_share"}));
  }
  if (name == "lognormal")
    return log_normal(node::Arguments(where, json, {"distribution", "mean_us", "sigma"}));
  if (name == "histogram") return histogram(node::Arguments(where, json, {"distribution", "bins"}));
  throw bad_argument(where + ": \"distribution\" is \"" + name + "\"; expected " + kNames);
}

double value(const Distribution::Fixed& fixed, double) noexcept {
  return fixed.us;
}

double value(const Distribution::Exponential& exponential, double u) noexcept {
  return -exponential.mean_us * std::log1p(-u);
}

double value(const Distribution::Atoms& distribution, double u) noexcept {
  const auto& atoms = distribution.atoms;
  const auto found =
      std::upper_bound(atoms.begin(), atoms.end() - 1, u,
                       [](double share, const Atom& atom) { return share < atom.until; });
  return found->us;
}

double value(const Distribution::LogNormal& normal, double u) noexcept {
  constexpr double kLeast = 0x1.0p-54;  // half of the least number above 0 that is drawn
  return std::exp(normal.mu + normal.sigma * stats::normal_quantile(std::max(u, kLeast)));
}

double mean(const Distribution::Fixed& fixed) noexcept {
  return fixed.us;
}

double mean(const Distribution::Exponential& exponential) noexcept {
  return exponential.mean_us;
}

double mean(const Distribution::Atoms& distribution) noexcept {
  double sum = 0;
  double before = 0;
  for (const Atom& atom : distribution.atoms) {
    sum += atom.us * (atom.until - before);
    before = atom.until;
  }
  return sum;
}

double mean(const Distribution::LogNormal& normal) noexcept {
  return std::exp(normal.mu + normal.sigma * normal.sigma / 2);
}

// std::visit that cannot throw: no value of these kinds can be without one.
template <typename Action>
double applied(const Distribution::Kind& kind, const Action& action) noexcept {
  if (const auto* fixed = std::get_if<Distribution::Fixed>(&kind)) return action(*fixed);
  if (const auto* atoms = std::get_if<Distribution::Atoms>(&kind)) return action(*atoms);
  if (const auto* normal = std::get_if<Distribution::LogNormal>(&kind)) return action(*normal);
  return action(*std::get_if<Distribution::Exponential>(&kind));
}

}  // namespace

Distribution Distribution::from_json(const std::string& where, const Json& json) {
  if (!json.is_object()) {
    throw bad_argument(where + " is " + json.dump() + R"(; expected {"distribution": NAME, ...})");
  }
  const auto found = json.find("distribution");
  if (found == json.end() || !found->is_string()) {
    throw bad_argument(where + ": \"distribution\" is " +
                       (found == json.end() ? "missing" : found->dump()) + "; expected " + kNames);
  }
  const auto name = found->get<std::string>();
  const bool published =
      name == "exp25" || name == "exp50" || name == "bimodal25" || name == "bimodal50";
  if (!published) return parametric(name, where, json);
  const node::Arguments nothing_else(where, json, {"distribution"});
  if (name == "exp25") return Distribution(Exponential{25});
  if (name == "exp50") return Distribution(Exponential{50});
  return name == "bimodal25" ? bimodal(25, 250, 0.1) : bimodal(50, 500, 0.1);
}

double Distribution::quantile(double u) const noexcept {
  return applied(kind_, [u](const auto& kind) { return value(kind, u); });
}

double Distribution::mean_us() const noexcept {
  return applied(kind_, [](const auto& kind) { return mean(kind); });
}

Jitter Jitter::from_json(const std::string& where, const Json& json) {
  const node::Arguments fields(where, json, {"probability", "factor"});
  return {share(fields, "probability"), fields.number("factor", 0, kMaxFactor)};
}

ServiceTimes ServiceTimes::from_json(const std::string& where, const Json& service,
                                     const Json& jitter_json) {
  const Jitter jitter = Jitter::from_json(where + ", jitter", jitter_json);
  const std::string what = where + ", service";
  if (!service.is_object() || service.contains("distribution")) {
    return {Distribution::from_json(what, service), jitter};
  }
  const node::Arguments fields(what, service, {"GET", "SCAN"});
  return {Distribution::from_json(what + ", GET", fields.object("GET")),
          Distribution::from_json(what + ", SCAN", fields.object("SCAN")), jitter};
}

double ServiceTimes::service_us(std::uint64_t seed, std::uint64_t request, std::uint32_t copy,
                                Operation operation) const noexcept {
  const double us = of(operation).quantile(uniform(seed, Stream::kService, request, copy));
  const bool jitters = uniform(seed, Stream::kJitter, request, copy) < jitter_.probability;
  return jitters ? us * jitter_.factor : us;
}

std::int64_t ServiceTimes::service_ns(std::uint64_t seed, std::uint64_t request, std::uint32_t copy,
                                      Operation operation, double dilation) const noexcept {
  return std::llround(service_us(seed, request, copy, operation) * dilation * 1000);
}

double ServiceTimes::mean_us(double scan_share) const noexcept {
  const double get = by_operation_.front().mean_us();
  const double scan = by_operation_.back().mean_us();
  return (get + scan_share * (scan - get)) * jitter_.mean_factor();
}

}  // namespace turntable::netclone
