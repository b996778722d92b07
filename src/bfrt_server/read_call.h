// One Read.
#pragma once

#include <utility>
#include <vector>

#include "bfrt/bfruntime.pb.h"
#include "bfrt_server/call_options.h"
#include "bfrt_server/notifier.h"
#include "bfrt_server/running_switch.h"

namespace turntable::bfrt_server {

class ReadCall {
 public:
  ReadCall(RunningSwitch& running, Notifier& notifier, CallOptions options)
      : running_(running), notifier_(notifier), options_(std::move(options)) {}

  // Throws Failure where the call as a whole cannot be done.
  grpc::Status run(const bfrt_proto::ReadRequest& request, bfrt_proto::ReadResponse& response);

 private:
  int read_entries(const bfrt_proto::ReadRequest& request, int first,
                   bfrt_proto::ReadResponse& response);
  void read_other(const bfrt_proto::ReadRequest& request, const bfrt_proto::Entity& entity,
                  bfrt_proto::ReadResponse& response);
  void read_handle(const bfrt_proto::TargetDevice& target, const bfrt_proto::HandleId& question,
                   bfrt_proto::ReadResponse& response) const;
  void read_id(const bfrt_proto::ObjectId& question, bfrt_proto::ReadResponse& response) const;
  std::uint32_t id_of(const bfrt_proto::ObjectId::TableObject& question) const;
  std::uint32_t id_of(const bfrt_proto::ObjectId::LearnObject& question) const;
  TableAccess& table(std::uint32_t id) const;

  RunningSwitch& running_;
  Notifier& notifier_;
  CallOptions options_;
  std::vector<bfrt_proto::Error> errors_;
};

}  // namespace turntable::bfrt_server
