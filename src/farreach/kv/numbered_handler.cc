#include "farreach/kv/numbered_handler.h"

#include <nlohmann/json.hpp>

#include "workload/key.h"

namespace turntable::kv {
namespace {

workload::KeyBytes store_key_of(const Packet& request) {
  return workload::store_key(*workload::key_id_from_wire(request.key));
}

// Number 0: the slot has no record.
bool carries_record(const Packet& request) {
  const bool has_place = request.type == PacketType::kBeingEvictedRecordGetRequest ||
                         request.type == PacketType::kLargeValueBlockRecordGetRequest;
  return has_place && request.sequence != kLoadedNumber;
}

bool is_fill(PacketType answer) {
  return answer == PacketType::kGetResponseLatestSeq ||
         answer == PacketType::kGetResponseDeletedSeq;
}

}  // namespace

NumberedHandler::NumberedHandler(RecordStore& records, unsigned partition, unsigned scale,
                                 StoreErrors on_store_error)
    : RequestHandler(partition, scale, std::move(on_store_error)), records_(records) {}

NumberedHandler::Outcome NumberedHandler::read(const Packet& request, Packet& answer) {
  count().reads.add();
  if (carries_record(request)) {
    const Outcome kept = keep_record_of(request);
    if (kept != Outcome::kAnswer) return kept;
  }
  Record record;
  const Store::Result found = records_.get(store_key_of(request), record);
  if (found == Store::Result::kError) return store_failed(records_.first_error());
  answer = answer_to(request, response_type(request, record));
  answer.value = record.value;
  answer.sequence = record.number;
  if (is_fill(answer.type)) {
    answer.snapshot_token = request.snapshot_token;  // by which the switch knows what to fill
  }
  if (!record.exists) {
    count().not_found.add();
    answer.stat = kStatAbsent;
  }
  return Outcome::kAnswer;
}

PacketType NumberedHandler::response_type(const Packet& request, const Record& record) {
  if (record.value.size() > kMaxValueBytes) return PacketType::kLargeGetResponseSeq;
  if (request.type != PacketType::kFillGetRequest) return PacketType::kGetResponseSeq;
  if (!is_newest(request.key, record)) {
    withheld_fills_.add();
    return PacketType::kGetResponseSeq;
  }
  return record.exists ? PacketType::kGetResponseLatestSeq : PacketType::kGetResponseDeletedSeq;
}

// What fills a slot must be the newest record that the switch has numbered. It numbers fragment 0
// of a large write, maybe before it admits the key; the other fragments may come behind this GET.
// Until they do, the slot stays without a record.
bool NumberedHandler::is_newest(const PacketKey& key, const Record& record) const {
  const std::uint32_t incomplete = largest_incomplete(key);
  return incomplete <= record.number || records_.is_fenced(incomplete);  // fenced: never executed
}

// Its client may be the first that sees the record, and the switch may be gone before its slot is
// written back.
NumberedHandler::Outcome NumberedHandler::keep_record_of(const Packet& request) {
  const Record record{
      .value = request.value, .number = request.sequence, .exists = request.stat != kStatAbsent};
  const auto kept = records_.apply(store_key_of(request), record, request.snapshot_token);
  if (kept.result == Store::Result::kError) return store_failed(records_.first_error());
  if (kept.newer) kept_reads_.add();
  return Outcome::kAnswer;
}

NumberedHandler::Outcome NumberedHandler::write(const Packet& request, bool is_delete,
                                                Packet& answer, bool& newer) {
  (is_delete ? count().deletes : count().writes).add();
  const Record record{.value = request.value, .number = request.sequence, .exists = !is_delete};
  const auto applied = records_.apply(store_key_of(request), record, request.snapshot_token);
  newer = applied.newer;
  if (applied.result == Store::Result::kError) return store_failed(records_.first_error());
  if (applied.fenced) {
    fenced_.add();
    return Outcome::kNoAnswer;  // its client sends it again, through the switch that there is now
  }
  if (!newer) outdated_.add();
  answer =
      answer_to(request, is_delete ? PacketType::kDeleteResponseSeq : PacketType::kPutResponseSeq);
  answer.sequence = request.sequence;
  return Outcome::kAnswer;
}

nlohmann::json NumberedHandler::method_statistics() const {
  return {{"outdated", outdated_.get()},
          {"fenced", fenced_.get()},
          {"kept_reads", kept_reads_.get()},
          {"withheld_fills", withheld_fills_.get()}};
}

}  // namespace turntable::kv
