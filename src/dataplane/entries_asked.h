// Which entries a table_read asks for: by their keys, by their handles, or all.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace turntable::dataplane {

class EntriesAsked {
 public:
  // ["entries": [{"key", ["priority"]}] or "handles": [number]], ["with_handles": bool]. Keeps a
  // reference to `args`. Throws CommandError bad_argument.
  explicit EntriesAsked(const nlohmann::json& args);

  const nlohmann::json* by_key() const { return keys_; }  // nullptr: not by key
  const std::optional<std::vector<std::uint32_t>>& by_handle() const { return handles_; }
  // Whether each entry is told with its handle.
  bool with_handles() const { return with_handles_; }

 private:
  const nlohmann::json* keys_ = nullptr;
  std::optional<std::vector<std::uint32_t>> handles_;
  bool with_handles_ = false;
};

}  // namespace turntable::dataplane
