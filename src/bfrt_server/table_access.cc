#include "bfrt_server/table_access.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "bfrt/values.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;

// What the driver of a Tofino 1 tells of a meter of bytes that nobody has limited: the most that a
// cell holds.
constexpr std::uint64_t kMostKbps = 5'195'848'221;
constexpr std::uint64_t kMostKbits = 4'380'866'642;

Json most_of_meter(const bfrt::Field& field) {
  if (field.name.ends_with("_KBPS")) return kMostKbps;
  if (field.name.ends_with("_KBITS")) return kMostKbits;
  return kUnlimited;
}

bool is_limit(const bfrt::Field& field) {
  return field.name.starts_with("$METER_SPEC_");
}

// What a read of a meter without limits gives may be written back.
Json as_softswitch_has_it(const bfrt::Field& field, const Json& value) {
  return is_limit(field) && value == most_of_meter(field) ? Json(kUnlimited) : value;
}

// Limits of softswitch's meters are whole bytes; those of BfRt whole kilobits, so that a fraction
// is rounded up.
Json told(const bfrt::Field& field, const Json& value) {
  if (field.kind != bfrt::Field::Kind::kNumber) return value;
  if (value.is_number_float()) return static_cast<std::uint64_t>(std::ceil(value.get<double>()));
  return is_limit(field) && value == kUnlimited ? most_of_meter(field) : value;
}

}  // namespace

bfrt_proto::TableEntry& ReadAnswers::add(std::size_t read, const EntryRead& question) {
  bfrt_proto::TableEntry& entry = answers_.at(read).emplace_back();
  entry.set_table_id(question.entry.table_id());
  entry.mutable_table_read_flag()->set_key_only(question.entry.table_read_flag().key_only());
  entry.mutable_table_flags()->set_key_only(question.entry.table_flags().key_only());
  // Who has a handle alone is told where its entry is.
  if (question.entry.has_entry_tgt() || (question.by_handle() && question.key_only()))
    *entry.mutable_entry_tgt() = question.target;
  return entry;
}

void TableAccess::read(const std::vector<EntryRead>& reads, SwitchLink& link,
                       ReadAnswers& answers) {
  for (std::size_t number = 0; number < reads.size(); ++number) {
    try {
      if (reads[number].by_handle() && !has_handles()) throw no_handles();
      read_one(number, reads[number], link, answers);
    } catch (const Failure& failure) {
      answers.fail(number, failure);
    }
  }
}

void TableAccess::read_one(std::size_t, const EntryRead&, SwitchLink&, ReadAnswers&) {
  throw cannot("entries cannot be read");
}

std::uint32_t TableAccess::usage(const bfrt_proto::TargetDevice&, SwitchLink&) {
  throw cannot("Unable to get usage");
}

std::uint32_t TableAccess::handle_of(const bfrt_proto::TableKey&, const bfrt_proto::TargetDevice&,
                                     SwitchLink&) {
  throw no_handles();
}

void TableAccess::operate(const std::string& operation, SwitchLink&) {
  throw cannot("Operation \"" + operation + "\" not supported");
}

std::string TableAccess::context(bfrt_proto::Update::Type type, bool is_default) const {
  const char* what = "Invalid update type";
  switch (type) {
    case bfrt_proto::Update::INSERT:
      what = "Table Add failed";
      break;
    case bfrt_proto::Update::MODIFY:
      what = is_default ? "Table Default entry set failed" : "Table Entry modify failed";
      break;
    case bfrt_proto::Update::MODIFY_INC:
      what = "Table Entry modify incremental failed";
      break;
    case bfrt_proto::Update::DELETE:
      what = is_default ? "Table Default Entry reset failed" : "Table Entry delete failed";
      break;
    case bfrt_proto::Update::INSERT_OR_MODIFY:
      what = "Table AddOrMod failed";
      break;
    case bfrt_proto::Update::RESET:
      what = "Table Default Entry reset failed";
      break;
    default:
      break;
  }
  return std::string(what) + " table:" + table_.name;
}

const bfrt::Action* TableAccess::action_of(const bfrt_proto::TableData& data,
                                           const std::string& context) const {
  if (data.action_id() == 0) return nullptr;
  const bfrt::Action* action = table_.action(data.action_id());
  if (action != nullptr) return action;
  throw not_found(context + ": no action has the id " + std::to_string(data.action_id()) + ";");
}

Json TableAccess::data_of(const bfrt_proto::TableData& data, const std::string& context,
                          bool complete) const {
  const bfrt::Action* action = action_of(data, context);
  Json values = Json::object();
  for (const bfrt_proto::DataField& message : data.fields()) {
    const bfrt::Field* field = table_.datum(action, message.field_id());
    if (field == nullptr) {
      throw not_found(context + ": no data field" +
                      (action == nullptr ? "" : " of action " + action->name) + " has the id " +
                      std::to_string(message.field_id()) + ";");
    }
    if (field->read_only) throw invalid(context + ": field " + field->name + " is read-only;");
    if (values.contains(field->name))
      throw invalid(context + ": field " + field->name + " is given twice;");
    try {
      values[field->name] = as_softswitch_has_it(*field, bfrt::datum(*field, message));
    } catch (const bfrt::ValueError& error) {
      throw invalid(context + ": " + error.what() + ";");
    }
  }
  const auto require = [&](const std::vector<bfrt::Field>& fields) {
    for (const bfrt::Field& field : fields) {
      if (field.mandatory && !values.contains(field.name))
        throw invalid(context + ": field " + field.name + " is missing;");
    }
  };
  if (complete) require(table_.data);
  if (complete && action != nullptr) require(action->data);
  return values;
}

Json TableAccess::key_of(const bfrt_proto::TableKey& key, const std::string& context) const {
  Json values = Json::object();
  for (const bfrt_proto::KeyField& message : key.fields()) {
    const bfrt::Field* field = table_.key(message.field_id());
    if (field == nullptr) {
      throw not_found(context + ": no key field has the id " + std::to_string(message.field_id()) +
                      ";");
    }
    if (values.contains(field->name))
      throw invalid(context + ": key " + field->name + " is given twice;");
    try {
      values[field->name] = bfrt::key(*field, message);
    } catch (const bfrt::ValueError& error) {
      throw invalid(context + ": " + error.what() + ";");
    }
  }
  for (const bfrt::Field& field : table_.keys) {
    if (field.mandatory && !values.contains(field.name))
      throw invalid(context + ": key " + field.name + " is missing;");
  }
  return values;
}

void TableAccess::put_key(const Json& key, bfrt_proto::TableEntry& entry) const {
  auto* fields = entry.mutable_key();
  for (const bfrt::Field& field : table_.keys) {
    const auto value = key.find(field.name);
    if (value != key.end()) bfrt::set_key(field, *value, *fields->add_fields());
  }
}

void TableAccess::put_data(const Json& data, const bfrt::Action* action,
                           const bfrt_proto::TableData& wanted, bfrt_proto::TableEntry& entry,
                           std::uint32_t pipes, const Json& data_of_pipes) const {
  auto* message = entry.mutable_data();
  if (action != nullptr) message->set_action_id(action->id);
  std::set<std::uint32_t> ids;
  for (const auto& field : wanted.fields()) ids.insert(field.field_id());
  const auto put = [&](const std::vector<bfrt::Field>& fields) {
    for (const bfrt::Field& field : fields) {
      if (!ids.empty() && !ids.contains(field.id)) continue;
      const auto value = data.find(field.name);
      if (value == data.end()) continue;
      for (std::uint32_t pipe = 0; pipe < (field.of_each_pipe ? pipes : 1); ++pipe) {
        const bool differs = field.of_each_pipe && pipe < data_of_pipes.size();
        const Json& number = differs ? data_of_pipes[pipe].at(field.name) : *value;
        bfrt::set_datum(field, told(field, number), *message->add_fields());
      }
    }
  };
  if (action != nullptr) put(action->data);
  put(table_.data);
}

}  // namespace turntable::bfrt_server
