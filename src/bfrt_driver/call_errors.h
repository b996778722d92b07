// What a failed call says, as the error of a control command.
#pragma once

#include <grpcpp/support/status.h>

#include <string>
#include <vector>

#include "bfrt/bfruntime.pb.h"
#include "common/command_error.h"

namespace turntable::bfrt_driver {

// The error of each update or entity of a failed Write or Read, in their order; those of successful
// ones have code 0. Empty where the switch gave no details.
std::vector<bfrt_proto::Error> details_of(const grpc::Status& status);

// `what` says what was tried and where. Codes: architecture.md §2.
CommandError error_of(grpc::StatusCode code, const std::string& what, const std::string& message);

// An update or entity of a batch that failed.
class UpdateError : public CommandError {
 public:
  UpdateError(const CommandError& error, std::size_t update)
      : CommandError(error), update_(update) {}

  std::size_t update() const noexcept { return update_; }  // its position in the request

 private:
  std::size_t update_;
};

// Throws the error of the first update that failed, as UpdateError, or, if there are no details,
// that of the call, as CommandError. `what` as above.
[[noreturn]] void throw_batch_error(const grpc::Status& status, const std::string& what);

}  // namespace turntable::bfrt_driver
