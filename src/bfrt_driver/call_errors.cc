#include "bfrt_driver/call_errors.h"

#include <string_view>

#include "bfrt/google/rpc/status.pb.h"

namespace turntable::bfrt_driver {
namespace {

// The words of an SDE's driver, at the end of a message.
constexpr std::string_view kReferenced = "being referenced by match entries";

const char* command_code(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::NOT_FOUND:
      return "not_found";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "full";
    case grpc::StatusCode::ALREADY_EXISTS:
      return "exists";
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::OUT_OF_RANGE:
      return "bad_argument";
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED:
      return "unavailable";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return "timeout";
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ABORTED:
      return "wrong_state";
    default:
      return "internal";
  }
}

// A member or group that entries name is not removed. The code is that of an entry that exists.
bool is_referenced(grpc::StatusCode code, const std::string& message) {
  return code == grpc::StatusCode::ALREADY_EXISTS && message.ends_with(kReferenced);
}

const char* advice(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::ALREADY_EXISTS:
      return "; use \"modify\" or \"upsert\"";
    case grpc::StatusCode::NOT_FOUND:
      return "; use \"insert\" or \"upsert\"";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "; delete entries, or enlarge `size` in the P4 program";
    default:
      return "";
  }
}

}  // namespace

std::vector<bfrt_proto::Error> details_of(const grpc::Status& status) {
  google::rpc::Status detailed;
  if (status.error_details().empty() || !detailed.ParseFromString(status.error_details()))
    return {};
  std::vector<bfrt_proto::Error> errors;
  for (const auto& detail : detailed.details()) {
    bfrt_proto::Error error;
    if (!detail.UnpackTo(&error)) error.set_canonical_code(grpc::StatusCode::UNKNOWN);
    errors.push_back(std::move(error));
  }
  return errors;
}

CommandError error_of(grpc::StatusCode code, const std::string& what, const std::string& message) {
  const std::string text =
      what + ": the switch answered \"" + message + "\" (gRPC " + std::to_string(code) + ")";
  if (is_referenced(code, message))
    return CommandError("referenced", text + "; delete the entries that name it first");
  return CommandError(command_code(code), text + advice(code));
}

void throw_batch_error(const grpc::Status& status, const std::string& what) {
  const auto errors = details_of(status);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const auto code = static_cast<grpc::StatusCode>(errors[i].canonical_code());
    if (code == grpc::StatusCode::OK) continue;
    throw UpdateError(error_of(code, what, errors[i].message()), i);
  }
  throw error_of(status.error_code(), what, status.error_message());
}

}  // namespace turntable::bfrt_driver
