// The agent's only way to the switch (docs/kvcache.md §7).
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "farreach/cache/control_frame.h"

namespace turntable::cache {

// Tables, registers and counters by BfRt names, or an unambiguous end of one. Every call but send()
// returns when the switch has done it, and throws CommandError when it did not.
class Driver {
 public:
  using Json = nlohmann::json;
  using OnFrame = std::function<void(const ControlFrame&)>;

  virtual ~Driver() = default;

  // Forgets its connection: the switch may have been started again.
  virtual void reconnect() {}

  // A batch of table updates as `table_write` of docs/architecture.md §5 has them: all or none.
  virtual void write_tables(const Json& updates) = 0;
  // Many entries of a table with exact keys, by one action, new or in the place of old ones: a
  // column of numbers for each field, one of each entry. All or none.
  struct Column {
    const char* field;
    std::vector<std::uint64_t> numbers;
  };
  virtual void write_entries(const std::string& table, const std::vector<Column>& key,
                             const std::string& action, const std::vector<Column>& data) = 0;
  // The entries of a table: [{"key", "action", "data"}], and how many there are.
  virtual Json read_table(const std::string& table) = 0;
  virtual std::size_t count_entries(const std::string& table) = 0;
  // The name of a table's default action, with or without those of the controls around it.
  virtual std::string read_default(const std::string& table) = 0;

  // A register's cells from `first` on; clearing sets all of them to their initial value.
  virtual std::vector<std::uint64_t> read_register(const std::string& name, std::uint32_t first,
                                                   std::uint32_t count) = 0;
  virtual void write_register(const std::string& name, std::uint32_t first,
                              const std::vector<std::uint64_t>& values) = 0;
  // Several ranges; when it throws, some may have been written.
  struct Cells {
    std::string name;
    std::uint32_t first = 0;
    std::vector<std::uint64_t> values;
  };
  virtual void write_registers(const std::vector<Cells>& ranges) {
    for (const Cells& range : ranges) write_register(range.name, range.first, range.values);
  }
  virtual void clear_register(const std::string& name) = 0;
  virtual void clear_registers() = 0;  // all of the program's

  // All cells of a counter, in packets.
  virtual std::vector<std::uint64_t> read_counter(const std::string& name) = 0;

  // Sends a frame into the CPU port; it may be lost. on_frame() says what gets those that come
  // out of it, on the loop's thread.
  virtual void send(const ControlFrame& frame) = 0;
  void on_frame(OnFrame on_frame) { on_frame_ = std::move(on_frame); }

 protected:
  void received(const ControlFrame& frame) const {
    if (on_frame_) on_frame_(frame);
  }

 private:
  OnFrame on_frame_;
};

}  // namespace turntable::cache
