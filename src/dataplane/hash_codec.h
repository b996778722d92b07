// What a hash is told, as JSON with BfRt's names: the commands hash_write, hash_read and hash_reset
// (docs/p4soft.md) for the tables NAME.configure, NAME.algorithm and NAME.compute.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/dynamic_hash.h"

namespace turntable::dataplane {

inline constexpr const char* kHashConfigure = "DynHashConfigure";  // table_type
inline constexpr const char* kHashAlgorithm = "DynHashAlgorithm";
inline constexpr const char* kHashCompute = "DynHashCompute";

class HashCodec {
 public:
  // `table`: the whole name, `type`: its table_type.
  HashCodec(std::string table, std::string type, DynamicHash& hash)
      : table_(std::move(table)), type_(std::move(type)), hash_(hash) {}

  // {"data"} of a configure table: {FIELD: [{"order", ["start_bit"], ["length"]}, …], …}; fields
  // that are left out do not count; without any, as in the program. {["action"], "data"} of an
  // algorithm: without an action a seed alone. Throws CommandError bad_argument, and has changed
  // nothing then.
  void write(const nlohmann::json& args);
  // {"table", ["action"], "data"}; of a compute table, {"key": {FIELD: value}} is given.
  nlohmann::json read(const nlohmann::json& args) const;
  void reset();

 private:
  void write_fields(const nlohmann::json& data);
  void write_algorithm(const nlohmann::json& args, const nlohmann::json& data);
  HashAlgorithm user_defined(const nlohmann::json& data) const;
  HashSlice slice(std::size_t field, const nlohmann::json& given) const;
  void check_beside(const std::vector<HashSlice>& before, const HashSlice& added) const;
  std::size_t field_of(const std::string& name) const;
  nlohmann::json fields() const;
  nlohmann::json algorithm() const;
  nlohmann::json computed(const nlohmann::json& key) const;

  std::string table_;
  std::string type_;
  DynamicHash& hash_;
};

}  // namespace turntable::dataplane
