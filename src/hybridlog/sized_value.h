// A value of another length than 8 bytes, where it lies in the log:
//
//   header u64 | key u64 | length u32, sequence u32 | bytes, and zeros up to a multiple of 8
//
// Its length never changes. Its bytes are changed in place by one thread at a time: the sequence is
// odd while they are, which is the writers' lock (a spin lock per value, as Shadowfax's), and two
// more after it. A reader takes nothing: it reads again where the sequence was odd or has changed,
// so it never has bytes of two writers. Every word is written with release and read with acquire:
// who has read what a writer wrote finds the sequence at which it was written, or a later one, when
// it looks again. (2^31 writes during one read are not noticed.)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include "hybridlog/record.h"
#include "hybridlog/value.h"

namespace turntable::hybridlog {

class SizedValue {
 public:
  // Of a record whose header says that it is sized, or will.
  explicit SizedValue(Record& record) noexcept
      : state_(record.value), words_(reinterpret_cast<std::uint64_t*>(&record + 1)) {}

  std::size_t size() const noexcept { return length_of(state_.load(std::memory_order_relaxed)); }

  // Of a record that nobody else knows yet.
  void begin(Bytes bytes) noexcept {
    state_.store(bytes.size(), std::memory_order_relaxed);
    write_words(bytes);
  }

  void read(Value& into) const {
    into.resize(size());
    for (unsigned spins = 0;; pause(spins)) {
      const std::uint64_t before = state_.load(std::memory_order_acquire);
      if (is_locked(before)) continue;
      std::uint64_t* from = words_;
      for (std::uint64_t& word : into.words())
        word = std::atomic_ref(*from++).load(std::memory_order_acquire);
      if (state_.load(std::memory_order_relaxed) == before) return;
    }
  }
  // As many bytes as it has.
  void write(Bytes bytes) noexcept {
    const std::uint64_t locked = lock();
    write_words(bytes);
    unlock(locked);
  }
  // To the number in its first 8 bytes, which it has.
  void add(std::uint64_t delta) noexcept {
    const std::uint64_t locked = lock();
    const std::atomic_ref first(*words_);
    first.store(first.load(std::memory_order_relaxed) + delta, std::memory_order_release);
    unlock(locked);
  }

 private:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32U;  // of the sequence
  static constexpr unsigned kSpins = 64;  // then whoever has the lock may need the processor

  static std::size_t length_of(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state);
  }
  static bool is_locked(std::uint64_t state) noexcept { return (state & kOne) != 0; }

  static void pause(unsigned& spins) noexcept {
    if (++spins % kSpins == 0) std::this_thread::yield();
  }

  // Returns the state that unlock() ends.
  std::uint64_t lock() noexcept {
    for (unsigned spins = 0;; pause(spins)) {
      std::uint64_t state = state_.load(std::memory_order_relaxed);
      if (!is_locked(state) &&
          state_.compare_exchange_weak(state, state + kOne, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return state + kOne;
    }
  }
  // A carry out of the sequence's upper end is lost: the length is below it.
  void unlock(std::uint64_t locked) noexcept {
    state_.store(locked + kOne, std::memory_order_release);
  }

  void write_words(Bytes bytes) noexcept {
    std::uint64_t* to = words_;
    for (; bytes.size() >= sizeof *to; bytes = bytes.subspan(sizeof *to))
      std::atomic_ref(*to++).store(number_of(bytes), std::memory_order_release);
    if (bytes.empty()) return;
    std::uint64_t last = 0;
    std::memcpy(&last, bytes.data(), bytes.size());
    std::atomic_ref(*to).store(last, std::memory_order_release);
  }

  std::atomic_ref<std::uint64_t> state_;
  std::uint64_t* words_;
};

// Of a record in its reader's own memory, whole.
inline Bytes value_of(const Record& record) noexcept {
  const bool is_sized = Header(record.header).is_sized();
  return {reinterpret_cast<const std::byte*>(is_sized ? &record.value + 1 : &record.value),
          record.value_bytes()};
}

// The following are of a record in the log, whatever its length. header: the record's.
inline void read_value_of(Record& record, Header header, Value& into) {
  if (header.is_sized()) {
    SizedValue(record).read(into);
  } else {
    const std::uint64_t value = record.read();
    into.assign(bytes_of(value));
  }
}

// False: the record has not as many bytes.
inline bool write_value(Record& record, Header header, Bytes bytes) noexcept {
  if (!header.is_sized()) {
    if (bytes.size() != sizeof record.value) return false;
    record.write(number_of(bytes));
    return true;
  }
  SizedValue value(record);
  if (value.size() != bytes.size()) return false;
  value.write(bytes);
  return true;
}

// To the first 8 bytes. False: it has fewer.
inline bool add_to(Record& record, Header header, std::uint64_t delta) noexcept {
  if (!header.is_sized()) {
    record.add(delta);
    return true;
  }
  SizedValue value(record);
  if (value.size() < sizeof delta) return false;
  value.add(delta);
  return true;
}

}  // namespace turntable::hybridlog
