#include "farreach/kv/arguments.h"

#include <nlohmann/json.hpp>
#include <set>

#include "net/udp.h"
#include "workload/key.h"

namespace turntable::kv {

std::optional<sockaddr_in> Arguments::controller_or_none(bool has_secret) const {
  const Json* given = object_or_null("controller");
  if (given == nullptr) return std::nullopt;
  if (!has_secret) {
    fail("controller", *given, "none with a node that was started without --secret FILE");
  }
  const Arguments fields(where() + ", controller", *given, {"address", "port"});
  return net::parse_ipv4(where() + ": \"controller.address\"", fields.text("address"),
                         static_cast<std::uint16_t>(fields.integer("port", 1, UINT16_MAX)));
}

unsigned Arguments::scale() const {
  const auto scale = integer("scale", 1, workload::kSlots);
  workload::check_scale(static_cast<std::uint64_t>(scale));
  return static_cast<unsigned>(scale);
}

std::vector<unsigned> Arguments::partitions(unsigned scale) const {
  std::vector<unsigned> partitions;
  std::set<unsigned> seen;
  for (const std::int64_t value : integers("partitions", 0, scale - 1, " (below scale)")) {
    const auto partition = static_cast<unsigned>(value);
    if (!seen.insert(partition).second) fail("partitions", value, "each partition once");
    partitions.push_back(partition);
  }
  return partitions;
}

workload::Workload Arguments::workload() const {
  auto workload = workload::workload_from_json(required("workload"));
  workload::check_runnable(workload);
  return workload;
}

}  // namespace turntable::kv
