#include "farreach/kv/farreach_handler.h"

#include <nlohmann/json.hpp>

namespace turntable::kv {
namespace {

bool is_hot(PacketType type) {
  return type == PacketType::kHotGetRequest || type == PacketType::kHotPutRequestSeq ||
         type == PacketType::kHotPutRequestSeqCase3;
}

}  // namespace

FarReachHandler::FarReachHandler(RecordStore& records, CachedKeys& keys, unsigned partition,
                                 unsigned scale, StoreErrors on_store_error)
    : NumberedHandler(records, partition, scale, std::move(on_store_error)), keys_(keys) {}

RequestKind FarReachHandler::kind_of(PacketType type) const noexcept {
  switch (type) {
    case PacketType::kGetRequest:
    case PacketType::kHotGetRequest:
    case PacketType::kFillGetRequest:
    case PacketType::kBeingEvictedRecordGetRequest:
    case PacketType::kLargeValueBlockRecordGetRequest:
      return RequestKind::kGet;
    case PacketType::kPutRequestSeq:
    case PacketType::kPutRequestSeqCase3:
    case PacketType::kPutRequestSeqBeingEvicted:
    case PacketType::kPutRequestSeqCase3BeingEvicted:
    case PacketType::kHotPutRequestSeq:
    case PacketType::kHotPutRequestSeqCase3:
    case PacketType::kLargePutRequestSeq:
    case PacketType::kLargePutRequestSeqCase3:
    case PacketType::kLargePutRequestSeqBeingEvicted:
    case PacketType::kLargePutRequestSeqCase3BeingEvicted:
      return RequestKind::kPut;
    case PacketType::kDeleteRequestSeq:
    case PacketType::kDeleteRequestSeqCase3:
    case PacketType::kDeleteRequestSeqBeingEvicted:
    case PacketType::kDeleteRequestSeqCase3BeingEvicted:
      return RequestKind::kDelete;
    default:
      return RequestKind::kNone;
  }
}

FarReachHandler::Outcome FarReachHandler::execute(const Packet& request, const sockaddr_in&,
                                                  Packet& answer) {
  const RequestKind kind = kind_of(request.type);
  bool newer = false;
  const Outcome outcome = kind == RequestKind::kGet
                              ? read(request, answer)
                              : write(request, kind == RequestKind::kDelete, answer, newer);
  if (is_hot(request.type)) {
    hot_requests_.add();
    keys_.report(*workload::key_id_from_wire(request.key));
  }
  return outcome;
}

nlohmann::json FarReachHandler::method_statistics() const {
  nlohmann::json fields = NumberedHandler::method_statistics();
  fields["hot_requests"] = hot_requests_.get();
  return fields;
}

}  // namespace turntable::kv
