#include "p4runtime_server/meter_data.h"

#include <nlohmann/json.hpp>

#include "dataplane/meter_codec.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

dataplane::MeterUnit unit_of(const config::MeterSpec& spec) {
  return spec.unit() == config::MeterSpec::BYTES ? dataplane::MeterUnit::kBytes
                                                 : dataplane::MeterUnit::kPackets;
}

std::uint64_t not_negative(std::int64_t value, const char* name, const std::string& what) {
  if (value >= 0) return static_cast<std::uint64_t>(value);
  throw invalid(what + ": " + name + " " + std::to_string(value) + " is negative");
}

}  // namespace

std::optional<p4::v1::MeterConfig> meter_config(const config::MeterSpec& spec,
                                                const nlohmann::json& data) {
  nlohmann::json fields = nlohmann::json::object();
  for (const auto& [name, value] : data.items()) {
    if (name.starts_with(dataplane::kMeterPrefix)) fields[name] = value;
  }
  const auto limits = dataplane::read_limits(unit_of(spec), fields, "meter");
  if (!limits) return std::nullopt;
  p4::v1::MeterConfig config;
  config.set_cir(static_cast<std::int64_t>(limits->committed_rate));
  config.set_cburst(static_cast<std::int64_t>(limits->committed_burst));
  config.set_pir(static_cast<std::int64_t>(limits->peak_rate));
  config.set_pburst(static_cast<std::int64_t>(limits->peak_burst));
  return config;
}

nlohmann::json meter_fields(const config::MeterSpec& spec, const p4::v1::MeterConfig* config,
                            const std::string& what) {
  if (config == nullptr) return dataplane::written_limits(unit_of(spec), std::nullopt);
  // Meters of TNA have two rates and three colours.
  if (config->eburst() != 0)
    throw invalid(what + ": eburst is of meters with a single rate; expected 0");
  dataplane::MeterLimits limits;
  limits.committed_rate = not_negative(config->cir(), "cir", what);
  limits.committed_burst = not_negative(config->cburst(), "cburst", what);
  limits.peak_rate = not_negative(config->pir(), "pir", what);
  limits.peak_burst = not_negative(config->pburst(), "pburst", what);
  return dataplane::written_limits(unit_of(spec), limits);
}

void refuse_color_counters(bool given) {
  if (given) throw not_supported("softswitch's meters do not count their colours");
}

}  // namespace turntable::p4runtime_server
