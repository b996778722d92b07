// What became of the updates of a call, or of its reads, as one status: OK, or UNKNOWN with an
// Error for each up to the last that failed in the trailing metadata.
#pragma once

#include <grpcpp/support/status.h>

#include <string>
#include <vector>

#include "bfrt/bfruntime.pb.h"

namespace turntable::bfrt_server {

inline bfrt_proto::Error to_error(const grpc::Status& status) {
  bfrt_proto::Error error;
  error.set_canonical_code(status.error_code());
  error.set_message(status.error_message());
  return error;
}

grpc::Status report(const std::string& message, const std::vector<bfrt_proto::Error>& errors);

}  // namespace turntable::bfrt_server
