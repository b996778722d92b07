// Attributes of tables, as far as softswitch has what they set.
#pragma once

#include "bfrt/bfruntime.pb.h"
#include "bfrt/schema.h"
#include "bfrt_server/notifier.h"
#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

// Throw Failure.
void write_attribute(TableAccess& access, const bfrt_proto::TableAttribute& attribute,
                     const bfrt_proto::TargetDevice& target, ClientId client, Notifier& notifier,
                     RunningSwitch& running);
bfrt_proto::TableAttribute read_attribute(TableAccess& access,
                                          const bfrt_proto::TableAttribute& question,
                                          const bfrt_proto::TargetDevice& target, ClientId client,
                                          const Notifier& notifier, RunningSwitch& running);

}  // namespace turntable::bfrt_server
