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
      what = "a hash has no attribute: tables NAME.algorithm and NAME.configure set it";
      break;
    case TableAttribute::kIntvlMs:
      what = "softswitch's port counters are always up to date, and no interval is kept";
      break;
    case TableAttribute::kPreDeviceConfig:
      what = "the replication engine's settings cannot be read";
      break;
    case TableAttribute::kSelectorUpdateNotify:
      what = "nobody is told of updates of selectors";
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

// What a meter adds to the bytes of each frame, after `args` has set it or not; of several pipes,
// that of the first.
std::int32_t byte_count_adjust(TableAccess& access, const bfrt_proto::TargetDevice& target,
                               nlohmann::json args, RunningSwitch& running) {
  const bfrt::Table& table = access.table();
  check_has(table, "MeterByteCountAdjust");
  args["table"] = table.name;
  put_pipes(access.scope()->of_cell(target, "table:" + table.name), args);
  try {
    return running.link().call("meter_byte_count_adjust", args).at("byte_count_adjust");
  } catch (const CommandError& error) {
    throw from_switch("table:" + table.name, error.code(), error.what() + std::string(";"));
  }
}

TableScope& scope_of(TableAccess& access) {
  check_has(access.table(), "EntryScope");
  return *access.scope();
}

// As on an SDE, members and groups are in the pipes of the entries that name them.
void write_scopes(TableAccess& access, const bfrt_proto::EntryScope& scope,
                  RunningSwitch& running) {
  TableScope& written = scope_of(access);
  for (const std::uint32_t id : access.table().depends_on)
    running.table(id)->scope()->write(scope, running.link());
  written.write(scope, running.link());
}

}  // namespace

void write_attribute(TableAccess& access, const TableAttribute& attribute,
                     const bfrt_proto::TargetDevice& target, ClientId client, Notifier& notifier,
                     RunningSwitch& running) {
  const bfrt::Table& table = access.table();
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
      byte_count_adjust(access, target,
                        {{"byte_count_adjust", attribute.byte_count_adj().byte_count_adjust()}},
                        running);
      return;
    case TableAttribute::kPreDeviceConfig:
      check_has(table, "pre_device_config");
      return configure_replication(table, attribute.pre_device_config(), running);
    case TableAttribute::kEntryScope:
      return write_scopes(access, attribute.entry_scope(), running);
    default:
      throw no_attribute(table, attribute.attribute_case());
  }
}

TableAttribute read_attribute(TableAccess& access, const TableAttribute& question,
                              const bfrt_proto::TargetDevice& target, ClientId client,
                              const Notifier& notifier, RunningSwitch& running) {
  const bfrt::Table& table = access.table();
  TableAttribute answer;
  answer.set_table_id(table.id);
  switch (question.attribute_case()) {
    case TableAttribute::kPortStatusNotify:
      check_has(table, "port_status_notif_cb");
      answer.mutable_port_status_notify()->set_enable(notifier.watches_ports(client));
      return answer;
    case TableAttribute::kIdleTable:
      check_has(table, "IdleTimeout");
      *answer.mutable_idle_table() = notifier.aging(table.id);
      return answer;
    case TableAttribute::kByteCountAdj:
      answer.mutable_byte_count_adj()->set_byte_count_adjust(
          byte_count_adjust(access, target, nlohmann::json::object(), running));
      return answer;
    case TableAttribute::kEntryScope:
      *answer.mutable_entry_scope() = scope_of(access).read();
      return answer;
    default:
      throw no_attribute(table, question.attribute_case());
  }
}

}  // namespace turntable::bfrt_server
