// Service times: a distribution of microseconds, and the jitter on top of it (netclone reference
// §6).
//
// As JSON, {"distribution": NAME, ...} with
//   fixed        us
//   exponential  mean_us
//   bimodal      short_us, long_us, long_share
//   trimodal     short_us, middle_us, long_us, middle_share, long_share
//   lognormal    mean_us, sigma       sigma: standard deviation of the logarithm
//   histogram    bins: [[us, count], ...], the values that were seen and how often
// or one of the four published ones by its name alone: exp25, bimodal25, exp50, bimodal50.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "netclone/packet.h"

namespace turntable::netclone {

class Distribution {
 public:
  struct Fixed {
    double us;
  };
  struct Exponential {
    double mean_us;
  };
  // One of a few values; a bimodal one has two, a histogram may have many.
  struct Atoms {
    struct Atom {
      double us;
      double until;  // the share of this value and all before it; the last one's is 1
    };
    std::vector<Atom> atoms;  // never empty
  };
  struct LogNormal {
    double mu;
    double sigma;
  };
  using Kind = std::variant<Fixed, Exponential, Atoms, LogNormal>;

  explicit Distribution(Kind kind) : kind_(std::move(kind)) {}

  // `where` begins every message: what is read. Throws CommandError bad_argument.
  static Distribution from_json(const std::string& where, const nlohmann::json& json);

  // The value below which a share `u` of all values lies, u in [0, 1). Allocates nothing.
  double quantile(double u) const noexcept;
  double mean_us() const noexcept;

 private:
  Kind kind_;
};

// A copy takes `factor` times as long with this probability.
struct Jitter {
  double probability = 0;
  double factor = 1;

  // {"probability", "factor"}
  static Jitter from_json(const std::string& where, const nlohmann::json& json);
  double mean_factor() const noexcept { return 1 + probability * (factor - 1); }
};

// What the copies of an iteration's requests take, undilated.
class ServiceTimes {
 public:
  // One distribution for all requests, or {"GET": ..., "SCAN": ...}: one for each operation.
  static ServiceTimes from_json(const std::string& where, const nlohmann::json& service,
                                const nlohmann::json& jitter);

  ServiceTimes(Distribution work, Jitter jitter)
      : by_operation_{std::move(work)}, jitter_(jitter) {}
  ServiceTimes(Distribution get, Distribution scan, Jitter jitter)
      : by_operation_{std::move(get), std::move(scan)}, jitter_(jitter) {}

  // Whether requests must say GET or SCAN.
  bool by_operation() const noexcept { return by_operation_.size() == 2; }

  double service_us(std::uint64_t seed, std::uint64_t request, std::uint32_t copy,
                    Operation operation = Operation::kWork) const noexcept;

  // As servers hold it: dilated, in whole nanoseconds.
  std::int64_t service_ns(std::uint64_t seed, std::uint64_t request, std::uint32_t copy,
                          Operation operation, double dilation) const noexcept;

  // With jitter. scan_share: of the requests; 0 where all have one distribution.
  double mean_us(double scan_share = 0) const noexcept;

 private:
  const Distribution& of(Operation operation) const noexcept {
    return by_operation_[by_operation() && operation == Operation::kScan ? 1 : 0];
  }

  std::vector<Distribution> by_operation_;  // one, or those of GET and SCAN
  Jitter jitter_;
};

}  // namespace turntable::netclone
