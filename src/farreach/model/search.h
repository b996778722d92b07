// Explicit-state search (docs/kvcache-model.md): every state that a model can reach, breadth first,
// so that the first violation comes with a shortest counterexample.
//
// A model has
//
//   State                          trivially copyable, without padding, comparable byte by byte
//   Step                           trivially copyable: what was done
//   State initial() const
//   void successors(const State&, Visit&&) const       visit(step, state) for each step
//   State canonical(const State&) const                the same for states that differ only in
//   names const char* violation(const State&) const          null: there is none std::string
//   text(const State& before, Step, const State& after) const
//
// Of a state only a fingerprint of 64 bits is kept. Of n states some two have the same one, and the
// later is missed with all that lies behind it, with a probability below n^2 / 2^65 (n = 10^8: 3 in
// 10,000).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace turntable::model {

struct SearchResult {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;
  unsigned depth = 0;              // steps to the state that is farthest away
  bool is_whole = false;           // nothing is left that was not looked at
  std::string violation;           // what is wrong at the end of the trace; empty: nothing
  std::vector<std::string> trace;  // shortest
};

inline std::uint64_t fingerprint(const void* bytes, std::size_t count) {
  constexpr std::size_t kWord = 8;
  constexpr std::uint64_t kFactor = 0xD6E8FEB86659FD93;  // odd, bits well mixed
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t hash = count;
  for (std::size_t left = count; left > 0;) {
    const std::size_t size = std::min(left, kWord);
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32U;
    at += size;
    left -= size;
  }
  hash *= kFactor;
  hash ^= hash >> 29U;
  return hash == 0 ? 1 : hash;
}

// Open addressing with linear probing, at most 3/5 full; numbers its members from 0 in the order in
// which they came.
class FingerprintSet {
 public:
  // False: it is there already.
  bool insert(std::uint64_t value) {
    if ((members_.size() + 1) * 5 > table_.size() * 3) grow();
    std::size_t place = home(value);
    while (table_[place] != kFree) {
      if (members_[table_[place]] == value) return false;
      place = (place + 1) & (table_.size() - 1);
    }
    table_[place] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(value);
    return true;
  }
  std::size_t size() const { return members_.size(); }
  std::uint64_t operator[](std::size_t number) const { return members_[number]; }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;

  std::size_t home(std::uint64_t value) const { return value & (table_.size() - 1); }
  void grow() {
    table_.assign(std::max<std::size_t>(1024, 2 * table_.size()), kFree);
    for (std::size_t number = 0; number < members_.size(); ++number) {
      std::size_t place = home(members_[number]);
      while (table_[place] != kFree) place = (place + 1) & (table_.size() - 1);
      table_[place] = static_cast<std::uint32_t>(number);
    }
  }

  std::vector<std::uint64_t> members_;
  std::vector<std::uint32_t> table_;
};

template <typename Model>
class Search {
 public:
  using State = typename Model::State;
  using Step = typename Model::Step;
  static_assert(std::is_trivially_copyable_v<State> &&
                std::has_unique_object_representations_v<State>);

  explicit Search(const Model& model) : model_(model) {}

  // Looks at no state behind the first `max_states`.
  SearchResult run(std::uint64_t max_states) {
    SearchResult result;
    reach(model_.initial(), 0);
    if (const char* wrong = model_.violation(model_.initial())) return found(wrong, result);
    while (!reached_.empty()) {
      const std::vector<State> layer = std::move(reached_);
      const std::size_t first = seen_.size() - layer.size();
      reached_.clear();
      for (std::size_t i = 0; i < layer.size(); ++i) {
        const char* wrong = expand(layer[i], static_cast<std::uint32_t>(first + i), result);
        if (wrong != nullptr) return found(wrong, result);
        if (seen_.size() >= max_states) return counted(result);
      }
      if (!reached_.empty()) ++result.depth;
    }
    result.is_whole = true;
    return counted(result);
  }

 private:
  bool reach(const State& state, std::uint32_t from) {
    const State named = model_.canonical(state);
    if (!seen_.insert(fingerprint(&named, sizeof named))) return false;
    from_.push_back(from);
    reached_.push_back(named);
    return true;
  }

  const char* expand(const State& state, std::uint32_t number, SearchResult& result) {
    const char* wrong = nullptr;
    model_.successors(state, [&](Step, const State& next) {
      ++result.steps;
      if (wrong == nullptr && reach(next, number)) wrong = model_.violation(next);
    });
    return wrong;
  }

  SearchResult counted(SearchResult result) const {
    result.states = seen_.size();
    return result;
  }

  // The violation is in the state that came last.
  SearchResult found(const char* wrong, SearchResult result) const {
    result.violation = wrong;
    std::vector<std::uint32_t> path;
    for (auto number = static_cast<std::uint32_t>(seen_.size() - 1); number != 0;
         number = from_[number]) {
      path.push_back(number);
    }
    std::reverse(path.begin(), path.end());
    State state = model_.initial();
    for (const std::uint32_t number : path) result.trace.push_back(follow(state, seen_[number]));
    result.depth = static_cast<unsigned>(path.size());
    return counted(result);
  }

  // States were renamed on the way; the trace keeps the names that it began with.
  std::string follow(State& state, std::uint64_t to) const {
    std::string text;
    State reached{};
    model_.successors(state, [&](Step step, const State& next) {
      if (!text.empty()) return;
      const State named = model_.canonical(next);
      if (fingerprint(&named, sizeof named) != to) return;
      text = model_.text(state, step, next);
      reached = next;
    });
    state = reached;
    return text;
  }

  const Model& model_;
  FingerprintSet seen_;
  std::vector<std::uint32_t> from_;  // the state before, by number
  std::vector<State> reached_;       // the last states of seen_, not expanded yet
};

}  // namespace turntable::model
