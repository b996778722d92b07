// What the servers of FarReach and NetCache have in common: records with numbers.
#pragma once

#include "farreach/kv/record_store.h"
#include "farreach/kv/request_handler.h"

namespace turntable::kv {

enum class RequestKind : std::uint8_t { kNone, kGet, kPut, kDelete };

class NumberedHandler : public RequestHandler {
 public:
  bool accepts(PacketType type) const noexcept final { return kind_of(type) != RequestKind::kNone; }

  nlohmann::json method_statistics() const override;

 protected:
  // `records` must outlive this object.
  NumberedHandler(RecordStore& records, unsigned partition, unsigned scale,
                  StoreErrors on_store_error);

  virtual RequestKind kind_of(PacketType type) const noexcept = 0;

  // Answers with the newer of the stored record and that of `request`, if it carries one, which is
  // then stored. A record that a fence excludes counts as none.
  Outcome read(const Packet& request, Packet& answer);

  // Applies the write if it is newer than the stored record, which is left in `newer`, and
  // acknowledges it with its own number in any case: a write that came late was overwritten at
  // once. A write that a switch numbered which is gone (RecordStore::fence) is not executed.
  Outcome write(const Packet& request, bool is_delete, Packet& answer, bool& newer);

 private:
  Outcome keep_record_of(const Packet& request);
  PacketType response_type(const Packet& request, const Record& record);
  bool is_newest(const PacketKey& key, const Record& record) const;

  RecordStore& records_;
  Counter outdated_;
  Counter fenced_;
  Counter kept_reads_;
  Counter withheld_fills_;
};

}  // namespace turntable::kv
