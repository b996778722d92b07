#include "farreach/kv/request_handler.h"

#include <nlohmann/json.hpp>

#include "workload/key.h"

namespace turntable::kv {

RequestHandler::RequestHandler(unsigned partition, unsigned scale, StoreErrors on_store_error)
    : partition_(partition), scale_(scale), on_store_error_(std::move(on_store_error)) {}

bool RequestHandler::owns(const Packet& request) noexcept {
  const auto id = workload::key_id_from_wire(request.key);
  if (id && workload::partition_of(workload::slot_of(*id), scale_) == partition_) return true;
  counters_.misrouted.add();
  return false;
}

Packet RequestHandler::answer_to(const Packet& request, PacketType type) const noexcept {
  return {.type = type,
          .key = request.key,
          .request_id = request.request_id,
          .stat = kStatSuccess,
          .node = static_cast<std::uint16_t>(partition_)};
}

nlohmann::json RequestHandler::method_statistics() const {
  return nlohmann::json::object();
}

RequestHandler::Outcome RequestHandler::store_failed(const std::string& message) {
  counters_.store_errors.add();
  on_store_error_(message);
  return Outcome::kNoAnswer;
}

}  // namespace turntable::kv
