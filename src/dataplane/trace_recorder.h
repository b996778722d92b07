// Records what happens to a packet inside a program, in the order it happens; compiled into
// libraries for tracing only (trace.h). The events are those of docs/p4soft.md, "Traces".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "dataplane/bits.h"
#include "dataplane/generated_program.h"
#include "dataplane/program_trace.h"
#include "dataplane/register.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

// Names are those of the control plane and of the P4 source. While no packet is traced, every call
// returns at once.
class TraceRecorder final : public ProgramTrace {
 public:
  explicit TraceRecorder(std::string_view schema_json);
  ~TraceRecorder() override;

  void begin() override;
  nlohmann::ordered_json take() override;

  void state(const char* parser, const char* state);
  void parsed(const char* parser, std::uint16_t error);
  // `header` is about to be filled from `bytes`.
  template <class Header>
  void extracted(const char* name, const Header& header, const std::uint8_t* bytes) {
    if (is_on_) extracted(name, &header, Header::kFields, {bytes, Header::kBytes});
  }
  template <class Header>
  void emitted(const char* name, const Header& header) {
    if (!is_on_) return;
    std::array<std::uint8_t, Header::kBytes + 1> bytes{};  // +1: a header may be empty
    header.emit(bytes.data());
    emitted(name, &header, Header::kFields, {bytes.data(), Header::kBytes});
  }
  // `key` as in packed_key.h; nullptr for a table without keys.
  void applied(const char* table, const Table& entries, const std::uint64_t* key,
               const Lookup& found) {
    applied(table, entries, key, found, table, found.entry, entries.data_start());
  }
  // `actions`: the table whose action is run, an action profile where `table` has one; `acting`:
  // the entry that it is run with, a member's or the default entry of `table`, and the first word
  // of its data.
  void applied(const char* table, const Table& entries, const std::uint64_t* key,
               const Lookup& found, const char* actions, const Entry& acting,
               std::size_t data_start);
  void counted(const char* counter, std::uint64_t index);
  void metered(const char* meter, std::uint64_t index, std::uint8_t color);
  void metered(const char* meter, std::uint8_t color);  // of an entry
  void drew(const char* random, std::uint64_t value);
  void digest(std::uint32_t filter, std::span<const std::uint8_t> fields);
  void mirror(const char* mirror, std::uint16_t session, std::span<const std::uint8_t> header);
  void resubmit(const char* resubmit, std::span<const std::uint8_t> data);

  bool is_on() const { return is_on_; }
  // For RegisterAccess. Returns the event's number.
  std::size_t reading(const char* name, const RegisterArray& cells, std::uint64_t index,
                      const char* by);
  void has_written(std::size_t event, const RegisterArray& cells, std::uint64_t index);
  void has_returned(std::size_t event, std::uint64_t output);

 private:
  struct State;  // keeps JSON out of generated code

  void extracted(const char* name, const void* header, const char* fields,
                 std::span<const std::uint8_t> bytes);
  void emitted(const char* name, const void* header, const char* fields,
               std::span<const std::uint8_t> bytes);

  bool is_on_ = false;
  std::unique_ptr<State> state_;
};

// A scope in which one cell of a register is read, perhaps written, and its action's output set.
struct NoOutput {};
template <class Output = NoOutput>
class RegisterAccess {
 public:
  // `by` is the RegisterAction's name, "read" or "write"; `output()` gives the raw bits of what the
  // action returns.
  RegisterAccess(TraceRecorder& trace, const char* name, const RegisterArray& cells,
                 std::uint64_t index, const char* by, Output output = {})
      : trace_(trace), cells_(cells), index_(index), output_(output) {
    if (trace_.is_on()) event_ = trace_.reading(name, cells, index, by);
  }
  ~RegisterAccess() {
    if (!trace_.is_on()) return;
    trace_.has_written(event_, cells_, index_);
    if constexpr (!std::is_same_v<Output, NoOutput>) trace_.has_returned(event_, output_());
  }
  RegisterAccess(const RegisterAccess&) = delete;
  RegisterAccess& operator=(const RegisterAccess&) = delete;

 private:
  TraceRecorder& trace_;
  const RegisterArray& cells_;
  std::uint64_t index_;
  Output output_;
  std::size_t event_ = 0;
};

class TracedProgram : public GeneratedProgram {
 public:
  ProgramTrace* trace() noexcept final { return &trace_; }

 protected:
  TracedProgram(std::string_view name, std::string_view schema, std::string_view p4info)
      : GeneratedProgram(name, schema, p4info), trace_(schema) {}

  TraceRecorder trace_;
};

}  // namespace turntable::dataplane
