// A register array (TNA's Register extern): cells that actions of the data plane change, and that
// the control plane reads and writes in ranges. The cells of a DirectRegister are in a table's
// entries (table.h).
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "dataplane/bits.h"

namespace turntable::dataplane {

// A register without the type of its cells. A cell has one field, or the two of a pair; a field's
// raw bits are its two's complement in the field's width.
class RegisterArray {
 public:
  virtual ~RegisterArray() = default;
  virtual std::uint32_t size() const noexcept = 0;
  virtual int fields() const noexcept = 0;
  virtual std::uint64_t raw(std::uint32_t index, int field) const = 0;
  virtual void set_raw(std::uint32_t index, int field, std::uint64_t bits) = 0;
  virtual void reset(std::uint32_t index) = 0;  // to the initial value
};

// The fields of a cell as raw bits. Members: the two fields of Cell if it is a struct. Width: of a
// field, in bits.
template <class Cell, int Width, auto... Members>
struct CellFields {
  static constexpr int kCount = sizeof...(Members) == 0 ? 1 : sizeof...(Members);

  static std::uint64_t raw(const Cell& cell, int field) {
    return to_bit<Width>(*place(cell, field));
  }
  static void set_raw(Cell& cell, int field, std::uint64_t bits) {
    auto* value = place(cell, field);
    if constexpr (std::is_signed_v<std::remove_pointer_t<decltype(value)>>) {
      *value = to_int<Width>(bits);
    } else {
      *value = to_bit<Width>(bits);
    }
  }

 private:
  template <class AnyCell>  // Cell or const Cell
  static auto* place(AnyCell& cell, [[maybe_unused]] int field) {
    if constexpr (sizeof...(Members) == 0) {
      return &cell;
    } else {
      return std::array{&(cell.*Members)...}[static_cast<std::size_t>(field)];
    }
  }
};

template <class Cell, int Width, auto... Members>
class Register final : public RegisterArray {
 public:
  explicit Register(std::uint32_t size, Cell initial = Cell{})
      : initial_(initial), cells_(size, initial) {}

  // An access outside the array finds zeros and leaves nothing.
  Cell& at(std::uint64_t index) noexcept {
    if (index < cells_.size()) [[likely]]
      return cells_[index];
    outside_ = Cell{};
    return outside_;
  }

  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(cells_.size()); }
  int fields() const noexcept override { return Fields::kCount; }

  std::uint64_t raw(std::uint32_t index, int field) const override {
    return Fields::raw(cells_.at(index), field);
  }
  void set_raw(std::uint32_t index, int field, std::uint64_t bits) override {
    Fields::set_raw(cells_.at(index), field, bits);
  }
  void reset(std::uint32_t index) override { cells_.at(index) = initial_; }

 private:
  using Fields = CellFields<Cell, Width, Members...>;

  Cell initial_;
  Cell outside_{};
  std::vector<Cell> cells_;
};

// The cell of a table's entry while something works on it: taken from the entry's words, a field in
// each, and put back there at the end of the scope. As an array it has this one cell.
template <class Cell, int Width, auto... Members>
class DirectCell final : public RegisterArray {
 public:
  explicit DirectCell(std::uint64_t* words) noexcept : words_(words) { take(); }
  ~DirectCell() override {
    for (int field = 0; field < Fields::kCount; ++field) words_[field] = Fields::raw(cell_, field);
  }
  DirectCell(const DirectCell&) = delete;
  DirectCell& operator=(const DirectCell&) = delete;

  Cell& at(std::uint64_t) noexcept { return cell_; }

  std::uint32_t size() const noexcept override { return 1; }
  int fields() const noexcept override { return Fields::kCount; }
  std::uint64_t raw(std::uint32_t, int field) const override { return Fields::raw(cell_, field); }
  void set_raw(std::uint32_t, int field, std::uint64_t bits) override {
    Fields::set_raw(cell_, field, bits);
  }
  void reset(std::uint32_t) override { take(); }

 private:
  using Fields = CellFields<Cell, Width, Members...>;

  void take() noexcept {
    for (int field = 0; field < Fields::kCount; ++field)
      Fields::set_raw(cell_, field, words_[field]);
  }

  std::uint64_t* words_;
  Cell cell_{};
};

}  // namespace turntable::dataplane
