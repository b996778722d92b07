// What Write and Read do, once it is clear that the client may.
#pragma once

#include <grpcpp/support/status.h>

#include <functional>
#include <vector>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

// OK; or UNKNOWN with a p4.v1.Error for each update. Throws Refusal for the call as a whole:
// UNIMPLEMENTED where it cannot be as atomic as it should, UNAVAILABLE where the switch has gone.
grpc::Status write(RunningProgram& program, const p4::v1::WriteRequest& request);

struct ReadAnswer {
  std::vector<p4::v1::ReadResponse> messages;
  grpc::Status status;  // OK; or UNKNOWN with a p4.v1.Error for each request
};

// Throws CommandError where the switch has gone; Refusal for the call as a whole:
// RESOURCE_EXHAUSTED it asks for too much, CANCELLED `is_abandoned` says so.
ReadAnswer read(RunningProgram& program, const p4::v1::ReadRequest& request,
                const std::function<bool()>& is_abandoned);

}  // namespace turntable::p4runtime_server
