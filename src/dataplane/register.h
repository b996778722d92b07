// A register array (TNA's Register extern): cells that actions of the data plane change, and that
// the control plane reads and writes in ranges.
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

// Members: the two fields of Cell if it is a struct. Width: of a field, in bits.
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
  int fields() const noexcept override { return sizeof...(Members) == 0 ? 1 : sizeof...(Members); }

  std::uint64_t raw(std::uint32_t index, int field) const override {
    return to_bit<Width>(*field_of(cells_.at(index), field));
  }
  void set_raw(std::uint32_t index, int field, std::uint64_t bits) override {
    auto* place = field_of(cells_.at(index), field);
    if constexpr (std::is_signed_v<std::remove_pointer_t<decltype(place)>>) {
      *place = to_int<Width>(bits);
    } else {
      *place = to_bit<Width>(bits);
    }
  }
  void reset(std::uint32_t index) override { cells_.at(index) = initial_; }

 private:
  template <class AnyCell>  // Cell or const Cell
  static auto* field_of(AnyCell& cell, [[maybe_unused]] int field) {
    if constexpr (sizeof...(Members) == 0) {
      return &cell;
    } else {
      return std::array{&(cell.*Members)...}[static_cast<std::size_t>(field)];
    }
  }

  Cell initial_;
  Cell outside_{};
  std::vector<Cell> cells_;
};

}  // namespace turntable::dataplane
