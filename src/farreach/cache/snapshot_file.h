// Snapshots on disk (docs/kvcache.md §8). A file, all numbers big-endian:
//
//   magic "TTSNAP01" 8 bytes; id 32;
//   each record: stat 8 (1 = value, 0 = deleted), key 16 bytes as on the wire, number 32,
//                length 32, value;
//   end: stat 8 = 255, count 32, CRC-32 (zlib's) of all bytes before it
//
// The controller's hold what the switch had; those of kvserver's `snapshot_records` what its stores
// had, values of any length. Of two records of a key the one with the larger number is newer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/unique_fd.h"
#include "farreach/cache/record.h"

namespace turntable::cache {

struct Snapshot {
  std::uint32_t id = 0;
  std::vector<Record> records;  // kValue or kDeleted

  bool operator==(const Snapshot&) const = default;
};

// Writes a file that is there only when it is whole and on disk. Everything throws CommandError.
class SnapshotWriter {
 public:
  SnapshotWriter(std::filesystem::path path, std::uint32_t id);
  ~SnapshotWriter();  // without finish(): as if nothing had been written
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  void add(const Record& record);
  std::uint32_t finish();  // how many records there are

 private:
  void flush();

  const std::filesystem::path path_;
  const std::filesystem::path part_;
  UniqueFd file_;
  std::vector<std::uint8_t> buffer_;
  std::uint32_t count_ = 0;
  std::uint32_t crc_ = 0;
};

// Throws CommandError: "not_found", or "unavailable" for a file that is not whole.
Snapshot read_snapshot(const std::filesystem::path& path);

// The controller's snapshots: a directory with the last complete one, and the last id given.
class SnapshotDirectory {
 public:
  // Made if it is not there. Throws CommandError.
  explicit SnapshotDirectory(std::filesystem::path directory);

  // An id larger than any before, on disk when this returns. It is at least the time in seconds, so
  // that ids grow although a directory is lost: the switch and the servers remember theirs.
  std::uint32_t next_id();

  // Takes the place of the one before.
  void save(const Snapshot& snapshot);
  std::optional<Snapshot> last() const;
  // There is none any more; ids still only grow.
  void discard();

  std::filesystem::path path() const { return directory_ / "snapshot"; }

 private:
  const std::filesystem::path directory_;
};

}  // namespace turntable::cache
