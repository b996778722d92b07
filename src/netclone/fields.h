// A JSON object whose fields are read by name. Every failure is a bad_argument that names the
// field, its value and what was expected.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace turntable::netclone {

class Fields {
 public:
  using Json = nlohmann::json;

  // `where` begins every message: what the object is part of. Names other than `known` are refused.
  // `json` must outlive this object.
  Fields(std::string where, const Json& json, std::initializer_list<const char*> known);

  const Json& required(const char* name) const;
  double number(const char* name, double low, double high) const;
  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high) const;
  bool boolean_or(const char* name, bool otherwise) const;
  std::string text(const char* name) const;
  bool has(const char* name) const;

  [[noreturn]] void fail(const char* name, const Json& value, const std::string& expected) const;

 private:
  std::string where_;
  const Json& json_;
};

}  // namespace turntable::netclone
