// The file of client copies, from which a crashed switch is recovered (docs/kvcache.md §9):
//
//   magic "TTCOPIES" 8 bytes; count 32; then each record: key 16 bytes as on the wire, number 32,
//   stat 8 (1 = value, 0 = deleted), length 32, value                            (all big-endian)
//
// in ascending order of the keys' ids.
#pragma once

#include <filesystem>
#include <map>

#include "kv/client_copies.h"

namespace turntable::kv {

class CopiesFile {
 public:
  // Of several copies of a key the one with the largest number is kept.
  void add(const ClientCopies::Copy& copy);

  // Writes all to `path`, complete or not at all, and answers how many. Throws CommandError.
  std::size_t write(const std::filesystem::path& path) const;

 private:
  std::map<workload::KeyId, ClientCopies::Copy> copies_;
};

}  // namespace turntable::kv
