// What a filter is told, as JSON with BfRt's names: among an entry's data, and for the commands
// filter_write and filter_read (docs/p4soft.md).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/filter.h"

namespace turntable::dataplane {

// Whether a field of BfRt is one of a filter's: "$LPF_SPEC_…" or "$WRED_SPEC_…".
bool is_filter_field(FilterKind kind, const std::string& name);
// Into a cell's words; its average begins anew. Throws CommandError bad_argument; `what` says
// where.
void put_filter_field(FilterKind kind, const std::string& name, const nlohmann::json& value,
                      const std::string& what, std::uint64_t* words);
nlohmann::json filter_fields(FilterKind kind, const std::uint64_t* words);
// A cell that was never told anything.
FilterWords fresh_filter(FilterKind kind);

class FilterCodec {
 public:
  FilterCodec(std::string name, FilterArray& filter) : name_(std::move(name)), filter_(filter) {}

  // {["index"], "data": {"$LPF_SPEC_TYPE", …}}: fields left out stay; "data": null: as at first.
  // Without an index, all cells.
  nlohmann::json write(const nlohmann::json& args);
  // {["index"]} -> {"table", "filters": [{"index", "data"}]}
  nlohmann::json read(const nlohmann::json& args) const;

 private:
  struct Cells {
    std::uint32_t first;
    std::uint32_t end;  // behind the last
  };
  Cells cells(const nlohmann::json& args) const;

  std::string name_;
  FilterArray& filter_;
};

}  // namespace turntable::dataplane
