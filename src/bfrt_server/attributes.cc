#include "bfrt_server/attributes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bfrt_server/failure.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using bfrt_proto::TableAttribute;

void check_has(const bfrt::Table& table, const char* attribute) {
  const auto& all = table.attributes;
  if (std::find(all.begin(), all.end(), attribute) != all.end()) return;
  throw invalid("table:" + table.name + " has no attribute " + attribute + ";");
}

Failure no_attribute(const bfrt::Table& table, TableAttribute::AttributeCase attribute) {
  const char* what = "Invalid Attribute Type";
  switch (attribute) {
    case TableAttribute::kDynKeyMask:
      what = "keys cannot be masked at run time in softswitch";
      break;
    case TableAttribute::kDynHashing:
      what = "hashes cannot be changed at run time in softswitch";
      break;
    case TableAttribute::kIntvlMs:
      what = "softswitch's port counters are always up to date, and no interval is kept";
      break;
    case TableAttribute::kPreDeviceConfig:
      what = "the replication engine's settings cannot be read";
      break;
    case TableAttribute::kSelectorUpdateNotify:
      what = "softswitch has no selectors";
      break;
    default:
      return invalid("table:" + table.name + ": " + what + ";");
  }
  return not_supported("table:" + table.name + ": " + what + ";");
}

// How long the chip's engine works at a time is nothing to softswitch's.
void configure_replication(const bfrt::Table& table, const bfrt_proto::PreDeviceConfig& config,
                           RunningSwitch& running) {
  if (config.pre_port_protection().enable() || config.pre_fast_failover().enable()) {
    throw not_supported("table:" + table.name +
                        ": softswitch's replication engine has no port protection and no fast "
                        "failover;");
  }
  if (!config.has_pre_global_rid()) return;
  try {
    running.link().call("table_write",
                        {{"updates",
                          {{{"op", "upsert"},
                            {"table", "$pre.device_config"},
                            {"key", {{"$DEVICE", 0}}},
                            {"data", {{"$GLOBAL_RID", config.pre_global_rid().global_rid()}}}}}}});
  } catch (const CommandError& error) {
    throw from_switch("table:" + table.name, error);
  }
}

// What a meter adds to the bytes of each frame, after `args` has set it or not.
std::int32_t byte_count_adjust(const bfrt::Table& table, nlohmann::json args,
                               RunningSwitch& running) {
  check_has(table, "MeterByteCountAdjust");
  args["table"] = table.name;
  try {
    return running.link().call("meter_byte_count_adjust", args).at("byte_count_adjust");
  } catch (const CommandError& error) {
    throw from_switch("table:" + table.name, error.code(), error.what() + std::string(";"));
  }
}

// In poll mode nobody is told of anything, and there are no times for that.
bfrt_proto::IdleTable idle_table(bfrt_proto::IdleTable set) {
  if (set.idle_table_mode() != bfrt_proto::IdleTable::IDLE_TABLE_POLL_MODE) return set;
  set.clear_ttl_query_interval();
  set.clear_max_ttl();
  set.clear_min_ttl();
  return set;
}

bool is_all(const bfrt_proto::Mode& mode) {
  return mode.scope_case() != bfrt_proto::Mode::kUserDefined &&
         mode.predef() == bfrt_proto::Mode::ALL;
}

}  // namespace

void write_attribute(const bfrt::Table& table, const TableAttribute& attribute, ClientId client,
                     Notifier& notifier, RunningSwitch& running) {
  switch (attribute.attribute_case()) {
    case TableAttribute::kPortStatusNotify:
      check_has(table, "port_status_notif_cb");
      return notifier.watch_ports(client, attribute.port_status_notify().enable(), running);
    case TableAttribute::kIdleTable:
      check_has(table, "IdleTimeout");
      return notifier.set_aging(table.id, client, attribute.idle_table());
    case TableAttribute::kIntvlMs:  // nothing is polled: counters are always up to date
      return check_has(table, "poll_intvl_ms");
    case TableAttribute::kByteCountAdj:
      byte_count_adjust(
          table, {{"byte_count_adjust", attribute.byte_count_adj().byte_count_adjust()}}, running);
      return;
    case TableAttribute::kPreDeviceConfig:
      check_has(table, "pre_device_config");
      return configure_replication(table, attribute.pre_device_config(), running);
    case TableAttribute::kEntryScope: {
      check_has(table, "EntryScope");
      const auto& scope = attribute.entry_scope();
      if (is_all(scope.pipe_scope()) && is_all(scope.gress_scope()) && is_all(scope.prsr_scope()))
        return;
      throw not_supported("table:" + table.name +
                          ": softswitch has one state for all pipes, so scopes other than ALL do "
                          "not exist;");
    }
    default:
      throw no_attribute(table, attribute.attribute_case());
  }
}

TableAttribute read_attribute(const bfrt::Table& table, const TableAttribute& question,
                              ClientId client, const Notifier& notifier, RunningSwitch& running) {
  TableAttribute answer;
  answer.set_table_id(table.id);
  switch (question.attribute_case()) {
    case TableAttribute::kPortStatusNotify:
      check_has(table, "port_status_notif_cb");
      answer.mutable_port_status_notify()->set_enable(notifier.watches_ports(client));
      return answer;
    case TableAttribute::kIdleTable:
      check_has(table, "IdleTimeout");
      *answer.mutable_idle_table() = idle_table(notifier.aging(table.id));
      return answer;
    case TableAttribute::kByteCountAdj:
      answer.mutable_byte_count_adj()->set_byte_count_adjust(
          byte_count_adjust(table, nlohmann::json::object(), running));
      return answer;
    case TableAttribute::kEntryScope:
      check_has(table, "EntryScope");
      answer.mutable_entry_scope()->mutable_gress_scope()->set_predef(bfrt_proto::Mode::ALL);
      answer.mutable_entry_scope()->mutable_pipe_scope()->set_predef(bfrt_proto::Mode::ALL);
      answer.mutable_entry_scope()->mutable_prsr_scope()->set_predef(bfrt_proto::Mode::ALL);
      return answer;
    default:
      throw no_attribute(table, question.attribute_case());
  }
}

}  // namespace turntable::bfrt_server
