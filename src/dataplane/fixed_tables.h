// Tables that every switch has, whatever its program: the packet replication engine and mirror
// sessions, with the names of BfRt ($pre.node, $pre.mgid, $pre.prune, $pre.port, $mirror.cfg). What
// an attribute sets in BfRt is in $pre.device_config, whose one entry has the key 0.
//
// They are kept as checked JSON; who acts on them (Replication) compiles that after each change.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace turntable::dataplane {

inline constexpr const char* kDeviceConfig = "$pre.device_config";
inline constexpr const char* kGlobalRid = "$GLOBAL_RID";

class FixedTables {
 public:
  using Entries = std::map<std::uint64_t, nlohmann::json>;  // key -> data, complete
  using State = std::map<std::string, Entries, std::less<>>;

  // Called with the state after a batch; throws CommandError to refuse it.
  using Listener = std::function<void(const State&)>;

  explicit FixedTables(Listener listener);

  // Whether a name belongs to a fixed table rather than to the program: it begins with '$'.
  static bool owns(std::string_view table) { return table.starts_with('$'); }
  // Whether a command is about fixed tables: its "table", or that of its first update.
  static bool concerns(const nlohmann::json& args);

  // table_write and table_read, as docs/architecture.md §5 has them. A batch applies wholly or not
  // at all.
  nlohmann::json execute(std::string_view command, const nlohmann::json& args);

  const State& state() const { return state_; }
  // What state() was before.
  void put_back(const State& before);
  // As a switch begins.
  void clear();

 private:
  nlohmann::json write(const nlohmann::json& args);
  nlohmann::json write_each(const nlohmann::json& updates);
  nlohmann::json read(const nlohmann::json& args) const;

  Listener listener_;
  State state_;
};

}  // namespace turntable::dataplane
