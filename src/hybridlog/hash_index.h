// From hashes to the newest record of a chain (FASTER §3): buckets of one cache line, each with
// seven entries and the number of an overflow bucket. An entry is an address with a tag of 14 bits
// of the hash; records whose bucket and tag agree are chained by their previous addresses.
//
//   bits of an entry    63         62        61..48  47..0
//                       tentative  reserved  tag     address        all zero: free
//
// No two entries of a bucket have the same tag, without a lock: a new entry is tentative at first,
// which nobody uses. Its thread then looks for another one of the tag in the whole chain of
// buckets, and takes its own back if there is one. Of two threads at least the second to write
// sees the other (all steps are sequentially consistent), so at most one entry becomes final.
//
// Entries are never freed, so a place once found stays the tag's. Atomic: see epoch.h.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "hybridlog/address.h"
#include "hybridlog/mapped_memory.h"

namespace turntable::hybridlog {

class IndexEntry {
 public:
  constexpr IndexEntry() = default;
  constexpr explicit IndexEntry(std::uint64_t word) : word_(word) {}
  constexpr IndexEntry(std::uint64_t tag, Address address)
      : word_(tag << kTagShift | (address & kAddressMask)) {}

  constexpr std::uint64_t word() const { return word_; }
  constexpr Address address() const { return word_ & kAddressMask; }
  constexpr std::uint64_t tag() const { return word_ >> kTagShift & kTagMask; }
  constexpr bool is_free() const { return word_ == 0; }
  constexpr bool is_tentative() const { return (word_ & kTentative) != 0; }
  constexpr IndexEntry tentative() const { return IndexEntry(word_ | kTentative); }

  static constexpr std::uint64_t tag_of(std::uint64_t hash) { return hash >> kTagShift & kTagMask; }

 private:
  static constexpr unsigned kTagShift = kAddressBits;
  static constexpr std::uint64_t kTagMask = (1U << 14U) - 1;
  static constexpr std::uint64_t kTentative = std::uint64_t{1} << 63U;

  std::uint64_t word_ = 0;
};

template <template <typename> class Atomic>
class BasicHashIndex {
 public:
  static constexpr std::size_t kEntries = 7;
  using Word = Atomic<std::uint64_t>;

  // Where an entry is, and what it was when it was read.
  struct Found {
    Word* place = nullptr;
    IndexEntry entry;

    explicit operator bool() const noexcept { return place != nullptr; }
    // The chain begins at `address` from now on, unless it has changed since.
    bool replace(Address address) const noexcept {
      std::uint64_t expected = entry.word();
      return place->compare_exchange_strong(expected, IndexEntry(entry.tag(), address).word());
    }
    void read_again() noexcept { entry = IndexEntry(place->load()); }
  };

  // buckets: a power of two. Throws std::invalid_argument, std::system_error.
  explicit BasicHashIndex(std::size_t buckets)
      : mask_(checked(buckets) - 1),
        memory_(buckets * sizeof(Bucket), "the index"),
        buckets_(reinterpret_cast<Bucket*>(memory_.data())) {
    std::uninitialized_value_construct_n(buckets_, buckets);
  }
  BasicHashIndex(const BasicHashIndex&) = delete;
  BasicHashIndex& operator=(const BasicHashIndex&) = delete;

  std::size_t buckets() const noexcept { return mask_ + 1; }
  std::size_t overflow_buckets() const noexcept { return overflow_count_.load(); }

  // The bucket comes nearer to the processor.
  void prefetch(std::uint64_t hash) const noexcept { __builtin_prefetch(&buckets_[hash & mask_]); }

  // The entry of the hash's tag; nothing if there is none.
  Found find(std::uint64_t hash) noexcept {
    const std::uint64_t tag = IndexEntry::tag_of(hash);
    for (Bucket* bucket = &buckets_[hash & mask_]; bucket != nullptr; bucket = next(*bucket))
      if (const Found found = find_in(*bucket, tag)) return found;
    return {};
  }

  // ... which is made, of an empty chain, if there is none. Throws std::bad_alloc.
  Found find_or_make(std::uint64_t hash) {
    const std::uint64_t tag = IndexEntry::tag_of(hash);
    for (;;) {
      Word* free = nullptr;
      if (const Found found = find_or_free(hash, tag, free)) return found;
      const IndexEntry fresh(tag, kNoAddress);
      std::uint64_t none = 0;
      if (!free->compare_exchange_strong(none, fresh.tentative().word())) continue;
      if (has_other(hash, tag, *free)) {
        free->store(0);
        continue;
      }
      free->store(fresh.word());
      return {free, fresh};
    }
  }

  // Calls visit(word) for every entry of a bucket and its overflow buckets.
  template <typename Visit>
  void for_each_entry(std::size_t bucket_number, Visit&& visit) {
    for (Bucket* bucket = &buckets_[bucket_number]; bucket != nullptr; bucket = next(*bucket))
      for (Word& word : bucket->entries) visit(word);
  }

 private:
  struct alignas(64) Bucket {
    std::array<Word, kEntries> entries{};
    Word overflow{0};  // number of the next bucket, from 1; 0: none
  };

  static std::size_t checked(std::size_t buckets) {
    if (std::has_single_bit(buckets)) return buckets;
    throw std::invalid_argument("hash index: " + std::to_string(buckets) +
                                " buckets; expected a power of two");
  }

  static Found find_in(Bucket& bucket, std::uint64_t tag) noexcept {
    for (Word& word : bucket.entries) {
      const IndexEntry entry(word.load(std::memory_order_acquire));
      if (!entry.is_free() && entry.tag() == tag && !entry.is_tentative()) return {&word, entry};
    }
    return {};
  }

  // The tag's entry, or else a free one; an overflow bucket is appended if need be.
  Found find_or_free(std::uint64_t hash, std::uint64_t tag, Word*& free) {
    Bucket* bucket = &buckets_[hash & mask_];
    for (;;) {
      for (Word& word : bucket->entries) {
        const IndexEntry entry(word.load());
        if (entry.is_free()) {
          if (free == nullptr) free = &word;
        } else if (entry.tag() == tag && !entry.is_tentative()) {
          return {&word, entry};
        }
      }
      Bucket* const following = next(*bucket);
      if (following == nullptr && free != nullptr) return {};
      bucket = following != nullptr ? following : append(*bucket);
    }
  }

  bool has_other(std::uint64_t hash, std::uint64_t tag, const Word& own) noexcept {
    for (Bucket* bucket = &buckets_[hash & mask_]; bucket != nullptr; bucket = next(*bucket)) {
      for (const Word& word : bucket->entries) {
        if (&word == &own) continue;
        const IndexEntry entry(word.load());
        if (!entry.is_free() && entry.tag() == tag) return true;
      }
    }
    return false;
  }

  Bucket* next(Bucket& bucket) noexcept {
    const std::uint64_t number = bucket.overflow.load();
    return number == 0 ? nullptr : overflow(number - 1);
  }

  // Chunk k has 2^k times as many as the first, so no bucket ever moves.
  static constexpr std::size_t kFirstChunk = 64;
  static constexpr std::size_t kChunks = 40;

  static constexpr unsigned chunk_of(std::uint64_t number) noexcept {
    return static_cast<unsigned>(std::bit_width((number / kFirstChunk + 1) / 2));
  }

  Bucket* overflow(std::uint64_t number) noexcept {
    const unsigned chunk = chunk_of(number);
    const std::uint64_t first = ((std::uint64_t{1} << chunk) - 1) * kFirstChunk;
    return &chunks_[chunk].load(std::memory_order_acquire)[number - first];
  }

  // Two threads may both make one; the loser's stays unused.
  Bucket* append(Bucket& bucket) {
    const std::uint64_t number = overflow_count_.fetch_add(1);
    make_chunk(number);
    std::uint64_t none = 0;
    if (bucket.overflow.compare_exchange_strong(none, number + 1)) return overflow(number);
    return overflow(none - 1);
  }

  void make_chunk(std::uint64_t number) {
    const unsigned chunk = chunk_of(number);
    const std::lock_guard lock(chunks_mutex_);
    if (chunks_[chunk].load(std::memory_order_relaxed) != nullptr) return;
    owned_.push_back(std::make_unique<Bucket[]>(kFirstChunk << chunk));
    chunks_[chunk].store(owned_.back().get(), std::memory_order_release);
  }

  const std::size_t mask_;
  const MappedMemory memory_;  // of the buckets, which need no destructor
  Bucket* const buckets_;
  Word overflow_count_{0};
  std::array<std::atomic<Bucket*>, kChunks> chunks_{};
  std::mutex chunks_mutex_;
  std::vector<std::unique_ptr<Bucket[]>> owned_;
};

using HashIndex = BasicHashIndex<std::atomic>;

}  // namespace turntable::hybridlog
