#include "farreach/cache/switch_image.h"

#include <string>
#include <vector>

#include "common/bytes.h"
#include "farreach/cache/lookup_writer.h"

namespace turntable::cache {
namespace {

constexpr std::size_t kWordBytes = 4;  // of a register of p4/shared/cache/values.p4
constexpr std::size_t kWords = kMaxCachedBytes / kWordBytes;

// One cell of each slot, as `cell_of` has it.
template <typename CellOf>
Driver::Cells cells(std::string name, std::span<const ControlFrame> admissions, CellOf cell_of) {
  Driver::Cells range{.name = std::move(name), .values = {}};
  range.values.reserve(admissions.size());
  for (const ControlFrame& frame : admissions) range.values.push_back(cell_of(frame));
  return range;
}

}  // namespace

void write_slots(Driver& driver, std::span<const ControlFrame> admissions) {
  if (admissions.empty()) return;
  std::vector<Driver::Cells> ranges;
  ranges.push_back(cells("slot_seq.cells", admissions, [](const auto& f) { return f.cell; }));
  ranges.push_back(cells("frequency.cells", admissions, [](const auto&) { return 0; }));
  ranges.push_back(cells("vallen.cells", admissions, [](const auto& f) { return f.length; }));
  for (std::size_t word = 0; word < kWords; ++word) {
    ranges.push_back(cells("values.value_" + std::to_string(word) + ".cells", admissions,
                           [at = word * kWordBytes](const auto& frame) {
                             return load_big_endian<std::uint32_t>(frame.value.data() + at);
                           }));
  }
  driver.write_registers(ranges);
  std::vector<Lookup> lookups;
  lookups.reserve(admissions.size());
  for (const ControlFrame& frame : admissions) lookups.push_back({frame.key, frame.slot});
  write_lookups(driver, lookups);
  driver.write_registers({cells("valid.cells", admissions, [](const auto&) { return kNormal; })});
}

}  // namespace turntable::cache
