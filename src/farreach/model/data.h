// What both models have in common: clients, keys, records, and how far a search goes.
#pragma once

#include <cstdint>
#include <vector>

namespace turntable::model {

using Byte = std::uint8_t;

inline constexpr unsigned kClients = 2;
inline constexpr unsigned kKeys = 2;
// A write is named by the operation that it is of: 1, 2, ...; the load's is 0. Large values carry
// the bit on top.
inline constexpr Byte kLarge = 8;
constexpr bool is_large(Byte write) {
  return (write & kLarge) != 0;
}

struct Record {
  Byte number;
  Byte write;
  bool operator==(const Record&) const = default;
};

// From a client. `current`: the client would take its answer.
struct Request {
  Byte used : 1, key : 1, client : 1, current : 1, write : 4;  // write 0: a GET
};

// What was read, or written, when `floor` had been answered before. Two numbers of one write, which
// came twice, are the same value.
inline bool is_older(const Record& record, const Record& floor) {
  return record.write != floor.write && record.number <= floor.number;
}

// Operations, by the rules that they differ in.
enum class Does : Byte { kGet, kPut, kLargePut };

struct Planned {
  Byte key;
  Does does;
};

struct Bounds {
  unsigned operations = 2;
  std::vector<Planned> plan = {};  // the operations, in this order; none: all there are
  unsigned faults = 0;   // lost writes towards a server, lost answers, requests that come twice
  bool repeats = true;   // ... and the last are among them
  unsigned parts = 0;    // large writes of which a server has the first part before the rest
  unsigned crashes = 0;  // in all, of these
  unsigned switch_crashes = 0;
  unsigned server_crashes = 0;
  unsigned agent_crashes = 0;
  unsigned controller_crashes = 0;
  unsigned admissions = 0;
  unsigned evictions = 0;
  unsigned snapshots = 0;
  bool cuts = false;  // what each snapshot holds is judged, too
};

inline bool is_planned(const Bounds& bounds, std::size_t index, Byte key, Does does) {
  if (bounds.plan.empty()) return true;
  return bounds.plan.at(index).key == key && bounds.plan.at(index).does == does;
}

inline Byte name_of(Does does, Byte name) {
  if (does == Does::kGet) return 0;
  return does == Does::kPut ? name : static_cast<Byte>(name | kLarge);
}

enum class Loses : Byte { kNothing, kWrite, kAnswer };

}  // namespace turntable::model
