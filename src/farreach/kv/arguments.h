// Checked access to the arguments of a control command. Every failure is a bad_argument that names
// the argument, its value and what was expected.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workload/profile.h"

namespace turntable::kv {

class Arguments {
 public:
  using Json = nlohmann::json;

  // `where` is the beginning of every message, for instance "kvserver prepare". `args` must outlive
  // this object. Names other than `known` are refused, so that a misspelt option is not silently
  // the default.
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
  const Json* object_or_null(const char* name) const;  // null if it is not given

  // "controller": {"address", "port"} of the cache-controller; nothing if it is not given. A node
  // that was started without the run's secret has no way to it.
  std::optional<sockaddr_in> controller_or_none(bool has_secret) const;

  // "scale": the number of logical servers, a divisor of 32,768.
  unsigned scale() const;
  // "partitions": distinct numbers below `scale`, at least one.
  std::vector<unsigned> partitions(unsigned scale) const;
  // "workload", with a profile that can run.
  workload::Workload workload() const;

  [[noreturn]] void fail(const std::string& name, const Json& value,
                         const std::string& expected) const;

 private:
  const Json& required(const char* name) const;

  std::string where_;
  const Json& args_;
};

}  // namespace turntable::kv
