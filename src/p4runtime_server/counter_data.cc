#include "p4runtime_server/counter_data.h"

#include <nlohmann/json.hpp>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

constexpr const char* kPackets = "$COUNTER_SPEC_PKTS";
constexpr const char* kBytes = "$COUNTER_SPEC_BYTES";

bool counts_packets(const config::CounterSpec& spec) {
  return spec.unit() != config::CounterSpec::BYTES;
}

bool counts_bytes(const config::CounterSpec& spec) {
  return spec.unit() != config::CounterSpec::PACKETS;
}

void put(const char* field, bool counts, std::int64_t value, nlohmann::json& fields) {
  if (value < 0) throw invalid("a counter cannot be " + std::to_string(value));
  if (!counts && value != 0)
    throw invalid(std::string("this counter does not count ") +
                  (field == kPackets ? "packets" : "bytes"));
  if (counts) fields[field] = static_cast<std::uint64_t>(value);
}

}  // namespace

p4::v1::CounterData counter_data(const config::CounterSpec& spec, const nlohmann::json& fields) {
  p4::v1::CounterData data;
  if (counts_packets(spec))
    data.set_packet_count(static_cast<std::int64_t>(fields.at(kPackets).get<std::uint64_t>()));
  if (counts_bytes(spec))
    data.set_byte_count(static_cast<std::int64_t>(fields.at(kBytes).get<std::uint64_t>()));
  return data;
}

void put_counter_data(const config::CounterSpec& spec, const p4::v1::CounterData& data,
                      nlohmann::json& fields) {
  put(kPackets, counts_packets(spec), data.packet_count(), fields);
  put(kBytes, counts_bytes(spec), data.byte_count(), fields);
}

}  // namespace turntable::p4runtime_server
