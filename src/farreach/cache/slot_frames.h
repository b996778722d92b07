// The control frames that change and read slots (docs/kvcache.md §3, "CPU port").
#pragma once

#include <cstdint>
#include <vector>

#include "farreach/cache/control_frame.h"
#include "farreach/cache/record.h"
#include "farreach/cache/slots.h"

namespace turntable::cache {

// Once it is in its slot: a record that is not known, or is large, is its server's to answer.
inline bool is_served(const Record& record) {
  return record.kind == Record::Kind::kValue || record.kind == Record::Kind::kDeleted;
}

// Frames pass the egress port of the server that has their slot's key, behind all its packets.
class SlotFrames {
 public:
  // `slots` must outlive it. `egress_ports` are those of each partition's server.
  SlotFrames(const Slots& slots, std::vector<std::uint16_t> egress_ports, bool write_back)
      : slots_(slots), egress_ports_(std::move(egress_ports)), write_back_(write_back) {}

  ControlFrame set_valid(Slot slot, std::uint8_t valid) const;
  ControlFrame load(Slot slot) const;
  ControlFrame admission(Slot slot, const Record& record) const;
  ControlFrame admission_of_newest(Slot slot, const Record& record) const;

  // Of any slot: only the way matters.
  std::vector<ControlFrame> loads_through_all_ports() const;

 private:
  std::uint16_t egress_port_of(const Key& key) const;
  ControlFrame frame(ControlFrame::Operation operation, Slot slot) const;

  const Slots& slots_;
  const std::vector<std::uint16_t> egress_ports_;
  const bool write_back_;
};

}  // namespace turntable::cache
