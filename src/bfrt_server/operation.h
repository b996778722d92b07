// What table_write calls an update of an entry.
#pragma once

#include "bfrt/bfruntime.pb.h"

namespace turntable::bfrt_server {

// Of INSERT, MODIFY, INSERT_OR_MODIFY or DELETE.
inline const char* operation_of(bfrt_proto::Update::Type type) {
  switch (type) {
    case bfrt_proto::Update::INSERT:
      return "insert";
    case bfrt_proto::Update::MODIFY:
      return "modify";
    case bfrt_proto::Update::INSERT_OR_MODIFY:
      return "upsert";
    default:
      return "delete";
  }
}

}  // namespace turntable::bfrt_server
