#include "bfrt_server/replication_table.h"

#include <algorithm>
#include <array>
#include <set>

#include "bfrt_server/fixed_schema.h"
#include "bfrt_server/operation.h"
#include "bfrt_server/write_batch.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Update;

// What softswitch has not, and the values that ask for nothing.
struct Absent {
  const char* field;
  Json harmless;
};

const std::vector<Absent>& absent() {
  static const std::vector<Absent> fields = {{"$MULTICAST_ECMP_ID", Json::array()},
                                             {"$MULTICAST_ECMP_L1_XID_VALID", Json::array()},
                                             {"$MULTICAST_ECMP_L1_XID", Json::array()},
                                             {"$MULTICAST_LAG_ID", Json::array()},
                                             {"$MULTICAST_BACKUP_PORT", nullptr},
                                             {"$MULTICAST_FORWARD_STATE", true},
                                             {"$MULTICAST_CLEAR_FAST_FAILOVER", false},
                                             {"$ingress_cos", 0},
                                             {"$packet_color", "GREEN"},
                                             {"$level1_mcast_hash", 0},
                                             {"$level2_mcast_hash", 0},
                                             {"$mcast_l1_xid", 0},
                                             {"$mcast_l2_xid", 0},
                                             {"$icos_for_copy_to_cpu", 0},
                                             {"$copy_to_cpu", false}};
  return fields;
}

}  // namespace

// As on the chip: what is not written is empty, and there is neither adding nor taking away.
bool ReplicationTable::always_has_entries() const {
  return table().name == "$pre.prune" || table().name == "$pre.port";
}

Json ReplicationTable::empty_entry() const {
  if (table().name == "$pre.prune") return {{"$DEV_PORT", Json::array()}};
  return {{"$COPY_TO_CPU_PORT_ENABLE", false}};
}

void ReplicationTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  if (update.entry.is_default_entry() || update.type == Update::RESET)
    throw cannot("there is no default entry;");
  Json written = {{"table", table().name}};
  written["op"] = always_has_entries() ? "upsert" : operation_of(update.type);
  switch (update.type) {
    case Update::DELETE:
      // A node that is deleted is no longer in its group.
      if (table().name == "$pre.node") written["from_groups"] = true;
      if (!update.entry.has_key()) {
        written["op"] = "clear";
        return batch.add(WriteBatch::Entry{std::move(written), true}, what);
      }
      if (always_has_entries()) written["data"] = empty_entry();
      break;
    case Update::INSERT:
    case Update::MODIFY:
    case Update::INSERT_OR_MODIFY:
      written["data"] = written_data(update, what);
      break;
    case Update::MODIFY_INC:
      return modify_lists(update, batch, what);
    default:
      throw invalid("Unspecified update type table:" + table().name);
  }
  written["key"] = key_of(update.entry.key(), what);
  batch.add(WriteBatch::Entry{std::move(written), true}, what);
}

Json ReplicationTable::written_data(const EntryWrite& update, const std::string& context) const {
  const bool is_whole = update.type != Update::MODIFY && update.type != Update::MODIFY_INC;
  // A node's lists may be left out, although the schema calls them mandatory.
  const bool is_node = table().name == "$pre.node";
  Json data = data_of(update.entry.data(), context, /*complete=*/is_whole && !is_node);
  if (is_whole && is_node && !data.contains("$MULTICAST_RID"))
    throw invalid(context + ": field $MULTICAST_RID is missing;");
  for (const auto& [field, harmless] : absent()) {
    const auto given = data.find(field);
    if (given == data.end()) continue;
    if (*given != harmless)
      throw cannot(std::string(field) + " is " + given->dump() +
                   ": softswitch has nothing like it;");
    data.erase(given);
  }
  if (is_whole && table().name == "$mirror.cfg" && update.entry.data().action_id() == 0)
    throw invalid(context + ": the action is missing;");
  return data;
}

// MODIFY_INC: adds members to the lists of an entry, or takes them out. A list's members belong to
// those at the same place in the others: the first list (nodes, ports) says which.
void ReplicationTable::modify_lists(const EntryWrite& update, WriteBatch& batch,
                                    const std::string& context) {
  if (table().name != "$pre.mgid" && table().name != "$pre.node")
    throw cannot("an entry has nothing that MODIFY_INC could add to;");
  const bool takes_out =
      update.entry.table_flags().mod_del() ||
      update.entry.table_mod_inc_flag().type() == bfrt_proto::TableModIncFlag::MOD_INC_DELETE;
  const std::string chief = table().name == "$pre.mgid" ? "$MULTICAST_NODE_ID" : "$DEV_PORT";
  const Json key = key_of(update.entry.key(), context);
  const Json given = written_data(update, context);
  const auto run = [this, takes_out, chief, key, given, context, &link = batch.link()] {
    Json data;
    for (const Json& entry : entries(link)) {
      if (entry.at("key") == key) data = entry.at("data");
    }
    if (data.is_null()) throw not_found(context);
    const Json members = given.value(chief, Json::array());
    for (auto& [name, list] : data.items()) {
      if (!list.is_array() || takes_out) continue;
      for (const Json& member : given.value(name, Json::array())) list.push_back(member);
    }
    for (const Json& member : takes_out ? members : Json::array()) {
      const Json& chiefs = data.at(chief);
      const auto found = std::find(chiefs.begin(), chiefs.end(), member);
      if (found == chiefs.end()) throw not_found(context + ": no such member: " + member.dump());
      const auto place = static_cast<std::size_t>(found - chiefs.begin());
      const std::size_t length = chiefs.size();
      for (auto& [name, list] : data.items()) {
        if (list.is_array() && list.size() == length) list.erase(place);
      }
    }
    link.call(
        "table_write",
        {{"updates", {{{"op", "modify"}, {"table", table().name}, {"key", key}, {"data", data}}}}});
  };
  batch.add(WriteBatch::Act{run}, context);
}

Json ReplicationTable::entries(SwitchLink& link) const {
  return link.call("table_read", {{"table", table().name}}).at("entries");
}

// Those that nobody wrote too: a table of exclusions is always full.
Json ReplicationTable::readable(SwitchLink& link, const Json& key) const {
  Json all = entries(link);
  if (!always_has_entries()) return all;
  std::set<int> written;
  const std::string& name = table().keys.front().name;
  for (const Json& entry : all) written.insert(entry.at("key").at(name).get<int>());
  const auto add = [&](int number) {
    if (written.insert(number).second)
      all.push_back({{"key", {{name, number}}}, {"data", empty_entry()}});
  };
  if (!key.is_null()) {
    add(key.at(name).get<int>());
  } else if (table().name == "$pre.prune") {
    for (int number = 0; number < kPruneEntries; ++number) add(number);
  }
  return all;
}

void ReplicationTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                                ReadAnswers& answers) {
  try {
    const bool one = read.entry.has_key();
    const Json key = one ? key_of(read.entry.key(), reading()) : Json();
    const bfrt::Action* action = table().actions.empty() ? nullptr : &table().actions.front();
    bool found = false;
    for (const Json& entry : readable(link, key)) {
      if (one && entry.at("key") != key) continue;
      found = true;
      Json data = entry.at("data");
      for (const auto& [field, harmless] : absent()) {
        if (!harmless.is_null() && !data.contains(field)) data[field] = harmless;
      }
      bfrt_proto::TableEntry& answer = answers.add(number, read);
      put_key(entry.at("key"), answer);
      if (!read.key_only()) put_data(data, action, read.entry.data(), answer);
    }
    if (one && !found) throw not_found(reading());
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

std::uint32_t ReplicationTable::usage(const bfrt_proto::TargetDevice&, SwitchLink& link) {
  if (table().name == "$pre.prune") return kPruneEntries;
  return static_cast<std::uint32_t>(entries(link).size());
}

}  // namespace turntable::bfrt_server
