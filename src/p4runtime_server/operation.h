// What an update does, in the word of softswitch's commands.
#pragma once

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {

// Throws Refusal INVALID_ARGUMENT.
inline const char* operation_of(p4::v1::Update::Type type) {
  switch (type) {
    case p4::v1::Update::INSERT:
      return "insert";
    case p4::v1::Update::MODIFY:
      return "modify";
    case p4::v1::Update::DELETE:
      return "delete";
    default:
      throw invalid("what to do is not said");
  }
}

}  // namespace turntable::p4runtime_server
