#include "farreach/kv/nocache_handler.h"

#include "workload/key.h"

namespace turntable::kv {

NoCacheHandler::NoCacheHandler(Store& store, unsigned partition, unsigned scale,
                               StoreErrors on_store_error)
    : RequestHandler(partition, scale, std::move(on_store_error)), store_(store) {}

bool NoCacheHandler::accepts(PacketType type) const noexcept {
  return type == PacketType::kGetRequest || type == PacketType::kPutRequest ||
         type == PacketType::kDeleteRequest || type == PacketType::kLargePutRequest;
}

NoCacheHandler::Outcome NoCacheHandler::execute(const Packet& request, const sockaddr_in&,
                                                Packet& answer) {
  answer = answer_to(request, request.type);
  switch (run(request, answer)) {
    case Store::Result::kOk:
      return Outcome::kAnswer;
    case Store::Result::kNotFound:
      count().not_found.add();
      answer.stat = kStatAbsent;
      answer.value = {};
      return Outcome::kAnswer;
    default:
      return store_failed(store_.first_error().ToString());
  }
}

Store::Result NoCacheHandler::run(const Packet& request, Packet& answer) {
  const workload::KeyBytes key = workload::store_key(*workload::key_id_from_wire(request.key));
  switch (request.type) {
    case PacketType::kPutRequest:
    case PacketType::kLargePutRequest:
      count().writes.add();
      answer.type = PacketType::kPutResponse;
      return store_.put(key, request.value);
    case PacketType::kDeleteRequest:
      count().deletes.add();
      answer.type = PacketType::kDeleteResponse;
      return store_.remove(key);
    default: {
      count().reads.add();
      const Store::Result result = store_.get(key, answer.value);
      answer.type = answer.value.size() > kMaxValueBytes ? PacketType::kLargeGetResponse
                                                         : PacketType::kGetResponse;
      return result;
    }
  }
}

}  // namespace turntable::kv
