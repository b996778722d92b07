#include "kv/request_handler.h"

#include "workload/key.h"

namespace turntable::kv {

RequestHandler::RequestHandler(Store& store, unsigned partition, unsigned scale,
                               std::function<void(const std::string&)> on_store_error)
    : store_(store),
      partition_(partition),
      scale_(scale),
      on_store_error_(std::move(on_store_error)) {}

bool RequestHandler::accepts(PacketType type) noexcept {
  return type == PacketType::kGetRequest || type == PacketType::kPutRequest ||
         type == PacketType::kDeleteRequest;
}

bool RequestHandler::owns(const Packet& request) noexcept {
  const auto id = workload::key_id_from_wire(request.key);
  if (id && workload::partition_of(workload::slot_of(*id), scale_) == partition_) return true;
  counters_.misrouted.add();
  return false;
}

std::size_t RequestHandler::execute(const Packet& request, std::span<std::uint8_t> out) {
  Packet response{.key = request.key,
                  .request_id = request.request_id,
                  .stat = kStatSuccess,
                  .node = static_cast<std::uint16_t>(partition_)};
  switch (run(request, response)) {
    case Store::Result::kOk:
      break;
    case Store::Result::kNotFound:
      counters_.not_found.add();
      response.stat = kStatAbsent;
      response.value = {};
      break;
    case Store::Result::kError:
      counters_.store_errors.add();
      on_store_error_(store_.first_error().ToString());
      return 0;
  }
  return encode(response, out);
}

Store::Result RequestHandler::run(const Packet& request, Packet& response) {
  const workload::KeyBytes key = workload::store_key(*workload::key_id_from_wire(request.key));
  switch (request.type) {
    case PacketType::kPutRequest:
      counters_.writes.add();
      response.type = PacketType::kPutResponse;
      return store_.put(key, request.value);
    case PacketType::kDeleteRequest:
      counters_.deletes.add();
      response.type = PacketType::kDeleteResponse;
      return store_.remove(key);
    default:
      counters_.reads.add();
      response.type = PacketType::kGetResponse;
      return store_.get(key, response.value);
  }
}

}  // namespace turntable::kv
