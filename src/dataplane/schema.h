// The control-plane schema of a program, read from its bfrt.json (the shape is described in
// docs/p4soft.md): what the control plane needs to turn names and values into packed keys and
// action data.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "dataplane/match.h"

namespace turntable::dataplane {

// What an entry names that has no action of its own.
inline constexpr const char* kMemberField = "$ACTION_MEMBER_ID";
inline constexpr const char* kGroupField = "$SELECTOR_GROUP_ID";

struct KeySchema {
  std::string name;  // as in P4: "hdr.ipv4.dst_addr"
  KeyField field;
};

struct DataSchema {
  std::string name;
  int width;  // bits
  int word;   // first 64-bit word in the entry's data
};

struct ActionSchema {
  std::string name;  // "SwitchIngress.to_server"; empty: has_actions() is false
  bool in_entries;   // action_scope is not DefaultOnly
  bool as_default;   // action_scope is not TableOnly
  std::vector<DataSchema> data;
};

struct TableSchema {
  std::string name;  // "pipe.SwitchIngress.partition"
  std::string type;  // table_type: "MatchAction_Direct", "Counter", ...
  std::uint32_t size;
  std::vector<KeySchema> keys;        // match keys, without $MATCH_PRIORITY
  std::vector<ActionSchema> actions;  // a position here is the action's number in an entry
  bool has_priority = false;
  bool has_const_default_action = false;
  bool is_const = false;  // const entries: nothing may be added or removed
  bool counts_packets = false;
  bool counts_bytes = false;
  std::vector<int> register_widths;  // bits of each field of a Register's cells
  std::vector<DataSchema> cell;      // the fields of a DirectRegister's
  int key_bits = 0;

  bool all_exact() const;
  // One of `cell`, by its name or a suffix of it of two parts or more ("cells.f1"): a shorter one
  // may be that of an action's data. nullptr: none.
  const DataSchema* cell_field(const std::string& field) const;
  // False: a parser's value set, or the metadata of ports. Their entries have a key and data, if
  // any, which are those of one action without a name; they have no default entry.
  bool has_actions() const;
  bool has_default() const { return has_actions() && !is_profile(); }
  // Members of an action profile, by number: they are nobody's default.
  bool is_profile() const { return type == "Action"; }
  bool is_selector() const { return type == "Selector"; }
  // How a hash is computed, or its value: NAME.configure, NAME.algorithm, NAME.compute.
  bool is_hash() const { return type.starts_with("DynHash"); }
  // Its entries name a member, or a group.
  bool is_indirect() const { return type.starts_with("MatchAction_Indirect"); }
};

// A digest: each field lies in whole bytes, one after the other.
struct LearnFilter {
  struct Field {
    std::string name;
    int width;  // bits
  };
  std::string name;  // "pipe.SwitchIngressDeparser.learn"
  std::vector<Field> fields;

  nlohmann::json fields_of(std::span<const std::uint8_t> bytes) const;
};

std::vector<LearnFilter> read_learn_filters(const nlohmann::json& document);

// The tables of a bfrt.json document. Throws std::runtime_error if it lacks what the contract
// promises.
std::vector<TableSchema> read_schema(const nlohmann::json& document);

}  // namespace turntable::dataplane
