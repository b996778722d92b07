#include "bfrt_driver/fresh_program.h"

#include <algorithm>

#include "bfrt_driver/entry_codec.h"

namespace turntable::bfrt_driver {
namespace {

using Update = bfrt_proto::Update;

// Groups before the nodes in them.
constexpr const char* kFixed[] = {"$pre.mgid", "$pre.node", "$mirror.cfg"};

bool is_const(const bfrt::Table& table) {
  return std::find(table.attributes.begin(), table.attributes.end(), "ConstTable") !=
         table.attributes.end();
}

}  // namespace

void make_fresh(SwitchCalls& calls) {
  auto request = SwitchCalls::write_request();
  const SwitchSchema& schema = calls.schema();
  for (const bfrt::Table& table : schema.of_program().tables()) {
    if (table.type == "Register" || table.type == "Counter" || table.type == "Meter")
      new_update(request, table, Update::DELETE);
    if (!is_match_action(table)) continue;
    if (!table.keys.empty() && !is_const(table)) new_update(request, table, Update::DELETE);
    if (!table.has_const_default_action)
      new_update(request, table, Update::DELETE).set_is_default_entry(true);
  }
  for (const char* name : kFixed) {
    if (schema.has(name)) new_update(request, schema.table(name), Update::DELETE);
  }
  calls.write(request);
}

}  // namespace turntable::bfrt_driver
