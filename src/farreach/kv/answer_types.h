// Which packets ask for an operation, and which answer it.
#pragma once

#include "farreach/kv/packet.h"
#include "workload/profile.h"

namespace turntable::kv {

constexpr PacketType request_type(workload::OperationType type, std::uint32_t value_bytes) {
  switch (type) {
    case workload::OperationType::kPut:
      return value_bytes > kMaxValueBytes ? PacketType::kLargePutRequest : PacketType::kPutRequest;
    case workload::OperationType::kDelete:
      return PacketType::kDeleteRequest;
    default:
      return PacketType::kGetRequest;
  }
}

constexpr bool is_get_response(PacketType type) {
  return type == PacketType::kGetResponse || type == PacketType::kGetResponseSeq ||
         type == PacketType::kLargeGetResponse || type == PacketType::kLargeGetResponseSeq;
}

constexpr bool is_response(PacketType type) {
  return is_get_response(type) || type == PacketType::kPutResponse ||
         type == PacketType::kPutResponseSeq || type == PacketType::kDeleteResponse ||
         type == PacketType::kDeleteResponseSeq;
}

constexpr bool is_response_to(PacketType type, workload::OperationType operation) {
  switch (operation) {
    case workload::OperationType::kPut:
      return type == PacketType::kPutResponse || type == PacketType::kPutResponseSeq;
    case workload::OperationType::kDelete:
      return type == PacketType::kDeleteResponse || type == PacketType::kDeleteResponseSeq;
    default:
      return is_get_response(type);
  }
}

}  // namespace turntable::kv
