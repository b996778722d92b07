// What a client asks for in a call's metadata.
#pragma once

#include <grpcpp/server_context.h>

#include <functional>

#include "common/deadline.h"

namespace turntable::bfrt_server {

struct CallOptions {
  Deadline deadline = Deadline::never();  // deadline_sec, deadline_nsec
  bool error_in_response = false;         // error_in_resp: "1"
  bool ignore_not_found = false;          // "1": deleting what is not there is no error
  // Whether the client has gone, or does not wait any longer; during the call.
  std::function<bool()> abandoned = [] { return false; };

  // Numbers that are none are left out.
  static CallOptions of(const grpc::ServerContext& context);  // which outlives the options
};

}  // namespace turntable::bfrt_server
