#include "bfrt_server/read_call.h"

#include <algorithm>

#include "bfrt_server/attributes.h"
#include "bfrt_server/report.h"

namespace turntable::bfrt_server {
namespace {

using bfrt_proto::Entity;

}  // namespace

TableAccess& ReadCall::table(std::uint32_t id) const {
  TableAccess* const found = running_.table(id);
  if (found != nullptr) return *found;
  throw not_found("Table not found for id " + std::to_string(id));
}

grpc::Status ReadCall::run(const bfrt_proto::ReadRequest& request,
                           bfrt_proto::ReadResponse& response) {
  for (int number = 0; number < request.entities_size();) {
    if (options_.deadline.passed())
      return {grpc::StatusCode::DEADLINE_EXCEEDED, "Read RPC request timed out"};
    const Entity& entity = request.entities(number);
    if (entity.has_table_entry()) {
      number = read_entries(request, number, response);
      continue;
    }
    ++number;
    grpc::Status status;
    try {
      read_other(request, entity, response);
    } catch (const Failure& failure) {
      status = failure.status();
    } catch (const CommandError& error) {
      status = from_switch("Read", error).status();
    }
    errors_.push_back(to_error(status));
  }
  if (!options_.error_in_response) return report("Read Error Status", errors_);
  for (const bfrt_proto::Error& error : errors_) *response.add_status() = error;
  return grpc::Status::OK;
}

// Those of one table that come one after the other, at once. Returns the first that is not of them.
int ReadCall::read_entries(const bfrt_proto::ReadRequest& request, int first,
                           bfrt_proto::ReadResponse& response) {
  const std::uint32_t id = request.entities(first).table_entry().table_id();
  std::vector<EntryRead> reads;
  int end = first;
  for (; end < request.entities_size(); ++end) {
    const Entity& entity = request.entities(end);
    if (!entity.has_table_entry() || entity.table_entry().table_id() != id) break;
    const auto& entry = entity.table_entry();
    reads.push_back({entry, entry.has_entry_tgt() ? entry.entry_tgt() : request.target()});
  }
  ReadAnswers answers(reads.size());
  try {
    TableAccess& access = table(id);
    // What has no default entry gives none, without an error.
    const bool default_only = reads.size() == 1 && reads[0].entry.is_default_entry();
    if (!default_only || access.has_default_entry()) access.read(reads, running_.link(), answers);
  } catch (const Failure& failure) {
    for (std::size_t number = 0; number < reads.size(); ++number) answers.fail(number, failure);
  }
  for (std::size_t number = 0; number < reads.size(); ++number) {
    errors_.push_back(to_error(answers.status(number)));
    if (!answers.status(number).ok()) continue;
    for (bfrt_proto::TableEntry& entry : answers.entries(number))
      response.add_entities()->mutable_table_entry()->Swap(&entry);
  }
  return end;
}

void ReadCall::read_other(const bfrt_proto::ReadRequest& request, const Entity& entity,
                          bfrt_proto::ReadResponse& response) {
  switch (entity.entity_case()) {
    case Entity::kTableUsage: {
      const std::uint32_t id = entity.table_usage().table_id();
      const std::uint32_t used = table(id).usage(request.target(), running_.link());
      auto* usage = response.add_entities()->mutable_table_usage();
      usage->set_table_id(id);
      usage->set_usage(used);
      return;
    }
    case Entity::kTableAttribute: {
      const auto& question = entity.table_attribute();
      const auto answer = read_attribute(table(question.table_id()), question, request.target(),
                                         request.client_id(), notifier_, running_);
      *response.add_entities()->mutable_table_attribute() = answer;
      return;
    }
    case Entity::kObjectId:
      return read_id(entity.object_id(), response);
    case Entity::kHandle:
      return read_handle(request.target(), entity.handle(), response);
    case Entity::kTableOperation:
      throw not_supported("Read operation not available on TableOperation");
    default:
      throw invalid("Invalid Read entity received");
  }
}

void ReadCall::read_handle(const bfrt_proto::TargetDevice& target,
                           const bfrt_proto::HandleId& question,
                           bfrt_proto::ReadResponse& response) const {
  if (!question.has_key()) throw invalid("Invalid key is mandatory for get handle operation.");
  const std::uint32_t handle =
      table(question.table_id()).handle_of(question.key(), target, running_.link());
  auto* answer = response.add_entities()->mutable_handle();
  answer->set_table_id(question.table_id());
  answer->set_handle_id(handle);
}

void ReadCall::read_id(const bfrt_proto::ObjectId& question,
                       bfrt_proto::ReadResponse& response) const {
  std::uint32_t id = 0;
  switch (question.object_case()) {
    case bfrt_proto::ObjectId::kTableObject:
      id = id_of(question.table_object());
      break;
    case bfrt_proto::ObjectId::kLearnObject:
      id = id_of(question.learn_object());
      break;
    default:
      throw invalid("Wrong Option for ID get");
  }
  response.add_entities()->mutable_object_id()->set_id(id);
}

std::uint32_t ReadCall::id_of(const bfrt_proto::ObjectId::TableObject& question) const {
  using Question = bfrt_proto::ObjectId::TableObject;
  const bfrt::Table* table = running_.described(question.table_name());
  if (table == nullptr) throw not_found("Table not found.");
  const auto id = [&](const auto* found) {
    if (found == nullptr) throw not_found("Id get failed: no such name in " + table->name + ";");
    return found->id;
  };
  switch (question.names_case()) {
    case Question::kActionName:
      return id(table->action(question.action_name().action()));
    case Question::kKeyFieldName:
      return id(table->key(question.key_field_name().field()));
    case Question::kDataFieldName: {
      const auto& name = question.data_field_name();
      const bfrt::Action* action = name.action().empty() ? nullptr : table->action(name.action());
      return id(table->datum(action, name.field()));
    }
    default:
      return table->id;
  }
}

std::uint32_t ReadCall::id_of(const bfrt_proto::ObjectId::LearnObject& question) const {
  const bfrt::LearnFilter* filter = running_.schema().learn_filter(question.learn_name());
  if (filter == nullptr) throw not_found("Learn Obj not found.");
  const std::string& name = question.data_field_name().field();
  if (name.empty()) return filter->id;
  const auto field = std::find_if(filter->fields.begin(), filter->fields.end(),
                                  [&](const bfrt::Field& each) { return each.name == name; });
  if (field == filter->fields.end()) throw not_found("Failed to get Learn ID");
  return field->id;
}

}  // namespace turntable::bfrt_server
