#include "farreach/cache/snapshot_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/command_error.h"

namespace turntable::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::uint8_t, 8> kMagic = {'T', 'T', 'S', 'N', 'A', 'P', '0', '1'};
constexpr std::uint8_t kDeletedStat = 0;
constexpr std::uint8_t kValueStat = 1;
constexpr std::uint8_t kEnd = 255;
constexpr std::size_t kCrcBytes = 4;
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr mode_t kMode = 0644;

CommandError disk_error(const std::string& what, const fs::path& path) {
  return {errno == ENOSPC ? "full" : "unavailable",
          "cannot " + what + " " + path.string() + ": " + std::strerror(errno) +
              "; expected a writable directory with free space"};
}

void write_all(int file, std::span<const std::uint8_t> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw disk_error("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void sync(int file, const fs::path& path) {
  if (::fsync(file) != 0) throw disk_error("sync", path);
}

// The new file has the name on disk, or the old one.
void take_place(const fs::path& part, const fs::path& path) {
  if (::rename(part.c_str(), path.c_str()) != 0) throw disk_error("rename to", path);
  const fs::path directory = path.has_parent_path() ? path.parent_path() : ".";
  const UniqueFd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) throw disk_error("open", directory);
  sync(opened.get(), directory);
}

UniqueFd create(const fs::path& path) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (!file) throw disk_error("create", path);
  return file;
}

std::uint32_t crc_of(std::uint32_t before, std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(before, bytes.data(), bytes.size()));
}

// Nothing if `bytes` is no whole snapshot.
std::optional<Snapshot> decode(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kCrcBytes) return std::nullopt;
  ByteReader from(bytes.first(bytes.size() - kCrcBytes));
  if (load_big_endian<std::uint32_t>(bytes.last<kCrcBytes>().data()) !=
      crc_of(0, bytes.first(bytes.size() - kCrcBytes))) {
    return std::nullopt;
  }
  const auto magic = from.take(kMagic.size());
  if (!std::equal(magic.begin(), magic.end(), kMagic.begin(), kMagic.end())) return std::nullopt;
  Snapshot snapshot{.id = from.number<std::uint32_t>(), .records = {}};
  for (auto stat = from.number<std::uint8_t>(); stat != kEnd; stat = from.number<std::uint8_t>()) {
    Record record;
    const auto key = from.take(record.key.size());
    record.number = from.number<std::uint32_t>();
    const auto value = from.take(from.number<std::uint32_t>());
    if (from.truncated() || stat > kValueStat) return std::nullopt;
    std::copy(key.begin(), key.end(), record.key.begin());
    record.kind = stat == kValueStat ? Record::Kind::kValue : Record::Kind::kDeleted;
    record.value.assign(value.begin(), value.end());
    snapshot.records.push_back(std::move(record));
  }
  const bool is_whole = from.number<std::uint32_t>() == snapshot.records.size() &&
                        !from.truncated() && from.left() == 0;
  return is_whole ? std::optional(std::move(snapshot)) : std::nullopt;
}

std::vector<std::uint8_t> contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw CommandError("not_found", "there is no snapshot " + path.string() + ": " +
                                        std::strerror(errno) + "; has any been taken?");
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

SnapshotWriter::SnapshotWriter(fs::path path, std::uint32_t id)
    : path_(std::move(path)), part_(path_.string() + ".part"), file_(create(part_)) {
  ByteWriter to(buffer_);
  to.bytes(kMagic);
  to.number(id);
}

SnapshotWriter::~SnapshotWriter() {
  if (file_) ::unlink(part_.c_str());
}

void SnapshotWriter::add(const Record& record) {
  const bool exists = record.kind == Record::Kind::kValue;
  ByteWriter to(buffer_);
  to.number(exists ? kValueStat : kDeletedStat);
  to.bytes(record.key);
  to.number(record.number);
  to.number(static_cast<std::uint32_t>(record.value.size()));
  to.bytes(record.value);
  ++count_;
  if (buffer_.size() >= kBufferBytes) flush();
}

std::uint32_t SnapshotWriter::finish() {
  ByteWriter(buffer_).number(kEnd);
  ByteWriter(buffer_).number(count_);
  flush();
  ByteWriter(buffer_).number(crc_);
  flush();
  sync(file_.get(), part_);
  take_place(part_, path_);
  file_ = UniqueFd();
  return count_;
}

void SnapshotWriter::flush() {
  crc_ = crc_of(crc_, buffer_);
  write_all(file_.get(), buffer_, part_);
  buffer_.clear();
}

Snapshot read_snapshot(const fs::path& path) {
  std::optional<Snapshot> snapshot = decode(contents_of(path));
  if (!snapshot) {
    throw CommandError("unavailable", path.string() +
                                          " is no whole snapshot; expected one that "
                                          "cache-controller or kvserver has written");
  }
  return std::move(*snapshot);
}

SnapshotDirectory::SnapshotDirectory(fs::path directory) : directory_(std::move(directory)) {
  std::error_code failed;
  fs::create_directories(directory_, failed);
  if (failed) {
    errno = failed.value();
    throw disk_error("make the directory", directory_);
  }
}

std::uint32_t SnapshotDirectory::next_id() {
  const fs::path path = directory_ / "snapshot_id";
  std::uint32_t last = 0;
  std::ifstream(path) >> last;
  const auto now_s = static_cast<std::uint32_t>(realtime_ns() / 1'000'000'000);
  const std::uint32_t id = std::max(last + 1, now_s);
  const fs::path part = path.string() + ".part";
  const UniqueFd file = create(part);
  const std::string text = std::to_string(id) + "\n";
  write_all(file.get(), std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
            part);
  sync(file.get(), part);
  take_place(part, path);
  return id;
}

void SnapshotDirectory::save(const Snapshot& snapshot) {
  SnapshotWriter writer(path(), snapshot.id);
  for (const Record& record : snapshot.records) writer.add(record);
  writer.finish();
}

void SnapshotDirectory::discard() {
  std::error_code failure;
  fs::remove(path(), failure);
  if (failure) {
    throw CommandError("unavailable", path().string() + " cannot be removed: " + failure.message());
  }
}

std::optional<Snapshot> SnapshotDirectory::last() const {
  if (!fs::exists(path())) return std::nullopt;
  return read_snapshot(path());
}

}  // namespace turntable::cache
