#include "farreach/cache/slot_frames.h"

#include <set>

#include "workload/key.h"

namespace turntable::cache {

using Operation = ControlFrame::Operation;

std::uint16_t SlotFrames::egress_port_of(const Key& key) const {
  const auto id = workload::key_id_from_wire(key);
  if (!id) return egress_ports_.front();
  const auto partitions = static_cast<unsigned>(egress_ports_.size());
  return egress_ports_[workload::partition_of(workload::slot_of(*id), partitions)];
}

ControlFrame SlotFrames::frame(Operation operation, Slot slot) const {
  ControlFrame frame{.operation = operation, .slot = slot, .key = slots_.key(slot)};
  frame.egress_port = egress_port_of(frame.key);
  return frame;
}

ControlFrame SlotFrames::set_valid(Slot slot, std::uint8_t valid) const {
  ControlFrame result = frame(Operation::kSetValid, slot);
  result.valid = valid;
  return result;
}

ControlFrame SlotFrames::load(Slot slot) const {
  return frame(Operation::kLoad, slot);
}

// What is admitted while requests are under way. FarReach trusts no record then: the first GET, or
// a write, brings the newest one, and the epoch tells this admission from all others. NetCache
// blocks the key's writes meanwhile, so what it is given is the newest.
ControlFrame SlotFrames::admission(Slot slot, const Record& record) const {
  if (!write_back_) return admission_of_newest(slot, record);
  ControlFrame result = frame(Operation::kAdmit, slot);
  put_record(key_only(record.key), result);
  result.cell = kAdmitted | slots_.admission(slot).id;
  return result;
}

// `record` is the newest of its key, if it is known at all.
ControlFrame SlotFrames::admission_of_newest(Slot slot, const Record& record) const {
  if (!is_served(record) && write_back_) return admission(slot, record);
  ControlFrame result = frame(Operation::kAdmit, slot);
  put_record(record, result);
  result.cell = is_served(record) ? kLatest | record.number : kSuperseded;
  return result;
}

std::vector<ControlFrame> SlotFrames::loads_through_all_ports() const {
  const std::set<std::uint16_t> ports(egress_ports_.begin(), egress_ports_.end());
  std::vector<ControlFrame> loads;
  for (const std::uint16_t port : ports) {
    loads.push_back(load(Slot{0}));
    loads.back().egress_port = port;
  }
  return loads;
}

}  // namespace turntable::cache
