// One Write.
#pragma once

#include <utility>

#include "bfrt/bfruntime.pb.h"
#include "bfrt_server/call_options.h"
#include "bfrt_server/notifier.h"
#include "bfrt_server/running_switch.h"

namespace turntable::bfrt_server {

class WriteBatch;

class WriteCall {
 public:
  WriteCall(RunningSwitch& running, Notifier& notifier, CallOptions options)
      : running_(running), notifier_(notifier), options_(std::move(options)) {}

  // Throws Failure where the call as a whole cannot be done.
  grpc::Status run(const bfrt_proto::WriteRequest& request, bfrt_proto::WriteResponse& response);

 private:
  void add(const bfrt_proto::WriteRequest& request, const bfrt_proto::Update& update,
           WriteBatch& batch);
  TableAccess& table(std::uint32_t id) const;
  grpc::Status answer(const bfrt_proto::WriteRequest& request, const WriteBatch& batch,
                      std::size_t tried, bfrt_proto::WriteResponse& response) const;

  RunningSwitch& running_;
  Notifier& notifier_;
  CallOptions options_;
};

}  // namespace turntable::bfrt_server
