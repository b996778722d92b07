// Checked access to the arguments of a control command. Every failure is a bad_argument that names
// the argument, its value and what was expected.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace turntable::node {

class Arguments {
 public:
  using Json = nlohmann::json;

  // `where` is the beginning of every message, for instance "test-node prepare". `args` must
  // outlive this object. Names other than `known` are refused, so that a misspelt option is not
  // silently the default.
  Arguments(std::string where, const Json& args, std::initializer_list<const char*> known);

  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high) const;
  std::int64_t integer_or(const char* name, std::int64_t low, std::int64_t high,
                          std::int64_t otherwise) const;
  double number(const char* name, double low, double high) const;
  bool boolean(const char* name) const;
  std::string text(const char* name) const;
  std::string text_or(const char* name, const std::string& otherwise) const;
  const Json& array(const char* name) const;  // never empty
  const Json& array_or_empty(const char* name) const;
  const Json& object(const char* name) const;
  const Json* object_or_null(const char* name) const;  // null if it is not given
  // At least one, each an integer from `low` to `high`; `hint` follows that in the message.
  std::vector<std::int64_t> integers(const char* name, std::int64_t low, std::int64_t high,
                                     const std::string& hint = "") const;

  [[noreturn]] void fail(const std::string& name, const Json& value,
                         const std::string& expected) const;

 protected:
  const std::string& where() const { return where_; }
  const Json& required(const char* name) const;

 private:
  std::string where_;
  const Json& args_;
};

}  // namespace turntable::node
