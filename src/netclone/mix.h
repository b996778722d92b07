// Which operation a request asks for.
//
// As JSON, [{"operation": "GET", "share": 0.99}, {"operation": "SCAN", "share": 0.01}], or null:
// requests ask for work of a drawn length.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "netclone/draws.h"
#include "netclone/packet.h"

namespace turntable::netclone {

class OperationMix {
 public:
  OperationMix() = default;  // of drawn work
  explicit OperationMix(double scan_share) : stores_(true), scan_share_(scan_share) {}

  static OperationMix from_json(const std::string& where, const nlohmann::json& json);

  // Whether requests ask for GET and SCAN.
  bool stores() const noexcept { return stores_; }
  double scan_share() const noexcept { return scan_share_; }

  Operation operation(std::uint64_t seed, std::uint64_t request) const noexcept {
    if (!stores_) return Operation::kWork;
    const bool scans = uniform(seed, Stream::kOperation, request) < scan_share_;
    return scans ? Operation::kScan : Operation::kGet;
  }

 private:
  bool stores_ = false;
  double scan_share_ = 0;
};

}  // namespace turntable::netclone
