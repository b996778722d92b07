#include "bfrt_server/report.h"

#include <algorithm>

#include "google/rpc/status.pb.h"

namespace turntable::bfrt_server {

grpc::Status report(const std::string& message, const std::vector<bfrt_proto::Error>& errors) {
  const auto last = std::find_if(errors.rbegin(), errors.rend(), [](const auto& error) {
    return error.canonical_code() != grpc::StatusCode::OK;
  });
  if (last == errors.rend()) return grpc::Status::OK;
  google::rpc::Status details;
  details.set_code(grpc::StatusCode::UNKNOWN);
  details.set_message(message);
  for (auto error = errors.begin(); error != last.base(); ++error)
    details.add_details()->PackFrom(*error);
  return {grpc::StatusCode::UNKNOWN, message, details.SerializeAsString()};
}

}  // namespace turntable::bfrt_server
