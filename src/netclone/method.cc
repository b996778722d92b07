#include "netclone/method.h"

#include <array>
#include <utility>

#include "common/command_error.h"

namespace turntable::netclone {
namespace {

template <typename Value, std::size_t count>
using Names = std::array<std::pair<Value, const char*>, count>;

constexpr Names<Method, 5> kMethods = {{{Method::kNoClone, "noclone"},
                                        {Method::kCClone, "cclone"},
                                        {Method::kNetClone, "netclone"},
                                        {Method::kNetCloneRackSched, "netclone-racksched"},
                                        {Method::kLaedge, "laedge"}}};
constexpr Names<LaedgeMode, 2> kLaedgeModes = {
    {{LaedgeMode::kBinary, "binary"}, {LaedgeMode::kSlots, "slots"}}};

template <typename Value, std::size_t count>
Value named(const Names<Value, count>& names, const std::string& what, const std::string& name) {
  std::string expected;
  for (const auto& [value, each] : names) {
    if (name == each) return value;
    expected += (expected.empty() ? "" : ", ") + std::string(each);
  }
  throw bad_argument(what + " is \"" + name + "\"; expected one of " + expected);
}

}  // namespace

const char* method_name(Method method) {
  for (const auto& [value, name] : kMethods)
    if (value == method) return name;
  return "unknown";
}

Method method_from_name(const std::string& where, const std::string& name) {
  return named(kMethods, where + ": \"method\"", name);
}

LaedgeMode laedge_mode_from_name(const std::string& where, const std::string& name) {
  return named(kLaedgeModes, where + ": LAEDGE's mode", name);
}

}  // namespace turntable::netclone
