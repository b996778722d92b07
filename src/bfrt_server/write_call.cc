#include "bfrt_server/write_call.h"

#include "bfrt_server/attributes.h"
#include "bfrt_server/report.h"
#include "bfrt_server/write_batch.h"

namespace turntable::bfrt_server {
namespace {

using bfrt_proto::Entity;
using bfrt_proto::Update;
using Atomicity = WriteBatch::Atomicity;

Atomicity atomicity_of(const bfrt_proto::WriteRequest& request) {
  switch (request.atomicity()) {
    case bfrt_proto::WriteRequest::CONTINUE_ON_ERROR:
      return Atomicity::kContinueOnError;
    case bfrt_proto::WriteRequest::ROLLBACK_ON_ERROR:
      return Atomicity::kRollbackOnError;
    case bfrt_proto::WriteRequest::DATAPLANE_ATOMIC:
      return Atomicity::kDataplaneAtomic;
    default:
      throw invalid("no such atomicity: " + std::to_string(request.atomicity()) + ";");
  }
}

}  // namespace

TableAccess& WriteCall::table(std::uint32_t id) const {
  TableAccess* const found = running_.table(id);
  if (found != nullptr) return *found;
  throw not_found("Table not found for id " + std::to_string(id));
}

grpc::Status WriteCall::run(const bfrt_proto::WriteRequest& request,
                            bfrt_proto::WriteResponse& response) {
  const Atomicity atomicity = atomicity_of(request);
  const auto count = static_cast<std::size_t>(request.updates_size());
  WriteBatch batch(running_.link(), count, atomicity, options_);
  const auto timed_out = [&] {
    return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "Write RPC request timed out");
  };
  for (std::size_t number = 0; number < count; ++number) {
    if (options_.deadline.passed()) {
      if (atomicity == Atomicity::kContinueOnError) batch.run();
      return timed_out();
    }
    batch.begin(number);
    try {
      add(request, request.updates(static_cast<int>(number)), batch);
    } catch (const Failure& failure) {
      batch.fail(number, failure);
      // Nothing has been done yet.
      if (atomicity != Atomicity::kContinueOnError)
        return answer(request, batch, number + 1, response);
    }
  }
  batch.run();
  return answer(request, batch, count, response);
}

void WriteCall::add(const bfrt_proto::WriteRequest& request, const Update& update,
                    WriteBatch& batch) {
  const Entity& entity = update.entity();
  switch (entity.entity_case()) {
    case Entity::kTableEntry: {
      const auto& entry = entity.table_entry();
      const auto& target = entry.has_entry_tgt() ? entry.entry_tgt() : request.target();
      return table(entry.table_id()).write({update.type(), entry, target}, batch);
    }
    case Entity::kTableOperation: {
      const auto& operation = entity.table_operation();
      TableAccess& access = table(operation.table_id());
      const auto execute = [&access, name = operation.table_operations_type(),
                            &link = batch.link()] { access.operate(name, link); };
      return batch.add(WriteBatch::Act{execute}, "Operation execute failed");
    }
    case Entity::kTableAttribute: {
      const auto& attribute = entity.table_attribute();
      return write_attribute(table(attribute.table_id()), attribute, request.target(),
                             request.client_id(), notifier_, running_);
    }
    case Entity::kTableUsage:
      throw not_supported("Write operation not available on TableUsage");
    default:
      throw not_supported("Invalid update.");
  }
}

// Errors may also be asked for in the response; INSERT_OR_MODIFY says there that it modified.
grpc::Status WriteCall::answer(const bfrt_proto::WriteRequest& request, const WriteBatch& batch,
                               std::size_t tried, bfrt_proto::WriteResponse& response) const {
  if (!options_.error_in_response && !batch.has_news()) return grpc::Status::OK;
  std::vector<bfrt_proto::Error> errors;
  errors.reserve(tried);
  for (std::size_t number = 0; number < tried; ++number) {
    const Update::Type type = request.updates(static_cast<int>(number)).type();
    bfrt_proto::Error error = to_error(batch.status(number));
    if (type == Update::DELETE && options_.ignore_not_found &&
        error.canonical_code() == grpc::StatusCode::NOT_FOUND) {
      error.set_code(error.canonical_code());
      error.set_canonical_code(grpc::StatusCode::OK);
    }
    const bool modified = type == Update::INSERT_OR_MODIFY && batch.replaced(number);
    if (modified) {
      error.set_message("Entry already exists, perform MODIFY");
      error.set_code(grpc::StatusCode::ALREADY_EXISTS);
    }
    if (options_.error_in_response || modified) *response.add_status() = error;
    errors.push_back(std::move(error));
  }
  return report("Write Error Status", errors);
}

}  // namespace turntable::bfrt_server
