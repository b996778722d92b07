#include "p4runtime_server/reconciliation.h"

#include <algorithm>

#include "p4runtime_server/idle_timeouts.h"

namespace turntable::p4runtime_server {
namespace {

using google::protobuf::RepeatedPtrField;

const std::string& name_of(const config::MatchField& field) {
  return field.name();
}
const std::string& name_of(const config::Action::Param& param) {
  return param.name();
}
template <typename Object>
const std::string& name_of(const Object& object) {
  return object.preamble().name();
}

template <typename Object>
std::uint32_t id_of(const Object& object) {
  if constexpr (requires { object.preamble(); })
    return object.preamble().id();
  else
    return object.id();
}

template <typename Object>
const Object* find_named(const RepeatedPtrField<Object>& objects, const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(),
                                  [&](const Object& each) { return name_of(each) == name; });
  return found == objects.end() ? nullptr : &*found;
}

// Clients know entities by ids. `what`: their kind, and where they are.
template <typename Object, typename Use>
void each_of_both(const std::string& what, const RepeatedPtrField<Object>& before,
                  const RepeatedPtrField<Object>& next, const Use& use) {
  for (const Object& object : before) {
    const Object* same = find_named(next, name_of(object));
    if (same == nullptr) continue;
    if (id_of(*same) != id_of(object)) {
      throw not_reconcilable(what + " " + name_of(object) + " has the id " +
                             std::to_string(id_of(*same)) + " instead of " +
                             std::to_string(id_of(object)) + "; give it that one with @id");
    }
    use(object, *same);
  }
}

template <typename Object>
void check_ids(const std::string& what, const RepeatedPtrField<Object>& before,
               const RepeatedPtrField<Object>& next) {
  each_of_both(what, before, next, [](const Object&, const Object&) {});
}

void check_all_ids(const config::P4Info& before, const config::P4Info& next) {
  each_of_both("table", before.tables(), next.tables(),
               [](const config::Table& table, const config::Table& same) {
                 check_ids("table " + name_of(table) + ", key", table.match_fields(),
                           same.match_fields());
               });
  each_of_both("action", before.actions(), next.actions(),
               [](const config::Action& action, const config::Action& same) {
                 check_ids("action " + name_of(action) + ", parameter", action.params(),
                           same.params());
               });
  each_of_both("value set", before.value_sets(), next.value_sets(),
               [](const config::ValueSet& set, const config::ValueSet& same) {
                 check_ids("value set " + name_of(set) + ", key", set.match(), same.match());
               });
  check_ids("action profile", before.action_profiles(), next.action_profiles());
  check_ids("counter", before.counters(), next.counters());
  check_ids("meter", before.meters(), next.meters());
  check_ids("register", before.registers(), next.registers());
  check_ids("digest", before.digests(), next.digests());
}

void check_idle_timeouts(const RunningProgram& program, const config::P4Info& next) {
  for (const std::uint32_t id : program.tables_with_idle_timeouts()) {
    const std::string& name = name_of(program.info().table(id));
    const config::Table* same = find_named(next.tables(), name);
    // Whose table has gone, softswitch says.
    if (same == nullptr || supports_idle_timeout(*same)) continue;
    throw not_reconcilable("table " + name +
                           " has no idle time-out any more, and has entries with idle_timeout_ns; "
                           "modify them first");
  }
}

// With the types that it names.
std::string type_of(const config::P4Info& info, const config::Digest& digest) {
  const config::P4DataTypeSpec& spec = digest.type_spec();
  const auto& types = info.type_info();
  const auto text = [](const auto& by_name, const std::string& name) {
    const auto found = by_name.find(name);
    return found == by_name.end() ? std::string() : found->second.SerializeAsString();
  };
  return spec.SerializeAsString() + text(types.structs(), spec.struct_().name()) +
         text(types.headers(), spec.header().name());
}

void check_digests(const RunningProgram& program, const config::P4Info& next) {
  for (const p4::v1::DigestEntry& entry : program.digests().entries(0)) {
    const config::Digest& digest = program.info().digest(entry.digest_id());
    const config::Digest* same = find_named(next.digests(), name_of(digest));
    if (same != nullptr && type_of(next, *same) == type_of(program.info().document(), digest))
      continue;
    throw not_reconcilable("digest " + name_of(digest) +
                           (same == nullptr ? " is not there any more" : " has another type") +
                           ", and is sent to clients; delete its DigestEntry first");
  }
}

}  // namespace

Refusal not_reconcilable(const std::string& reason) {
  return invalid("the forwarding state cannot be kept: " + reason +
                 "; or begin anew with VERIFY_AND_COMMIT");
}

void check_reconcilable(const RunningProgram& program, const config::P4Info& next) {
  check_all_ids(program.info().document(), next);
  check_idle_timeouts(program, next);
  check_digests(program, next);
}

}  // namespace turntable::p4runtime_server
