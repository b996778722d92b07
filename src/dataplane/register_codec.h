// Ranges of a register's cells as JSON, for the commands register_read, register_write and
// register_clear (docs/p4soft.md). A cell is a number, or [first, second] of a pair; a signed field
// appears as its bits (two's complement), as everywhere in the control plane. Packed
// (common/packed_numbers.h) the numbers follow each other, those of a pair too.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dataplane/register.h"
#include "dataplane/schema.h"

namespace turntable::dataplane {

class RegisterCodec {
 public:
  // Both must outlive this.
  RegisterCodec(const TableSchema& schema, RegisterArray& cells) : schema_(schema), cells_(cells) {}

  // {["first": 0], ["count": all], ["packed": false]} -> {"table", "first", "values"}
  nlohmann::json read(const nlohmann::json& args) const;
  // {["first": 0], "values": an array or packed}; all of them or, if one is wrong, none.
  nlohmann::json write(const nlohmann::json& args);
  // {["first": 0], ["count": all]}: back to the initial value.
  nlohmann::json clear(const nlohmann::json& args);

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t count;
  };
  Range range(const nlohmann::json& args) const;
  std::uint32_t natural(const nlohmann::json& args, const char* name, std::uint32_t missing) const;
  std::vector<std::uint64_t> parse(const nlohmann::json& values) const;
  std::uint64_t parse_field(const nlohmann::json& value, std::size_t index, int field) const;
  std::vector<std::uint64_t> unpack(const nlohmann::json& values) const;
  [[noreturn]] void fail(const std::string& message) const;

  const TableSchema& schema_;
  RegisterArray& cells_;
};

}  // namespace turntable::dataplane
