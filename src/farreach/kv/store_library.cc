#include "farreach/kv/store_library.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/parallel.h"

namespace turntable::kv {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Change it when the layout on disk, the set of keys or the values for the same parameters change.
constexpr int kFormatVersion = 1;
// Building a small store is mostly waiting for the disk to sync: more threads than cores pay.
constexpr std::size_t kBuilders = 4;

json spec_json(const StoreSpec& spec) {
  json spec_of = {{"format", kFormatVersion},
                  {"workload", workload::workload_to_json(spec.workload)},
                  {"scale", spec.scale},
                  {"store_profile", store_profile_name(spec.profile)}};
  if (spec.numbered) spec_of["records"] = "numbered";  // plain stores keep the digest they had
  return spec_of;
}

// Runs `action` and turns the errors of the file system into a CommandError.
template <typename Action>
auto on_disk(const std::string& what, Action&& action) {
  try {
    return action();
  } catch (const fs::filesystem_error& error) {
    const bool full = error.code() == std::errc::no_space_on_device;
    throw CommandError(full ? "full" : "unavailable",
                       what + ": " + error.what() +
                           "; expected a writable directory with free space (see --state-dir)");
  }
}

// Waits until the contents of a file or directory are on disk.
void sync_path(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) {
    throw fs::filesystem_error("cannot sync", path,
                               std::error_code(errno, std::generic_category()));
  }
}

void write_json(const fs::path& path, const json& value) {
  std::ofstream file(path);
  file << value.dump() << '\n';
  file.close();
  if (!file) {
    throw fs::filesystem_error("cannot write", path,
                               std::error_code(errno, std::generic_category()));
  }
  sync_path(path);
}

// null unless the file holds JSON.
json read_json(const fs::path& path) {
  std::ifstream file(path);
  const json value = json::parse(file, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? json() : value;
}

constexpr const char* kIncarnation =
    "incarnation";  // RocksDB does not mind a file in its directory

// 0: the directory has none.
std::uint32_t read_incarnation(const fs::path& directory) {
  std::uint32_t number = 0;
  std::ifstream(directory / kIncarnation) >> number;
  return number;
}

// Not synced: it need not survive more than its process.
void write_incarnation(const fs::path& directory) {
  const std::uint32_t number = std::max(std::random_device{}(), 1U);
  std::ofstream file(directory / kIncarnation);
  file << number << '\n';
  file.close();
  if (!file) {
    throw fs::filesystem_error("cannot write", directory / kIncarnation,
                               std::error_code(errno, std::generic_category()));
  }
}

fs::path partition_path(const fs::path& root, const std::string& digest, unsigned partition) {
  return root / digest / ("p" + std::to_string(partition));
}

UniqueFd lock_directory(const fs::path& root) {
  const fs::path path = root / "LOCK";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) throw fs::filesystem_error("cannot open", path, {errno, std::generic_category()});
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    throw CommandError("unavailable", "another kvserver uses " + root.string() +
                                          "; give each its own --state-dir or end the other one");
  }
  return fd;
}

}  // namespace

std::string digest_of(const StoreSpec& spec) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a 64
  for (const char c : spec_json(spec).dump()) {
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

StoreLibrary::StoreLibrary(const fs::path& state_dir) : root_(state_dir / "stores") {
  on_disk("cannot use the stores in " + root_.string(), [&] {
    fs::create_directories(root_);
    lock_ = lock_directory(root_);
    remove_from_partitions({"work.tmp", "base.tmp"});
  });
}

void StoreLibrary::remove_left() {
  on_disk("cannot remove working copies in " + root_.string(),
          [&] { remove_from_partitions({"work"}); });
}

void StoreLibrary::remove_from_partitions(std::initializer_list<const char*> names) {
  for (const auto& digest : fs::directory_iterator(root_)) {
    if (!digest.is_directory()) continue;
    for (const auto& partition : fs::directory_iterator(digest)) {
      if (!partition.is_directory()) continue;
      for (const char* const name : names) fs::remove_all(partition.path() / name);
    }
  }
}

std::vector<StoreLibrary::Loaded> StoreLibrary::load(const StoreSpec& spec,
                                                     std::span<const unsigned> partitions) {
  const std::string digest = digest_of(spec);
  return on_disk("cannot load stores into " + root_.string(), [&] {
    const fs::path spec_file = root_ / digest / "spec.json";
    if (read_json(spec_file) != spec_json(spec)) {
      fs::remove_all(root_ / digest);
      fs::create_directories(root_ / digest);
      write_json(spec_file, spec_json(spec));
    }
    fs::last_write_time(spec_file, fs::file_time_type::clock::now());
    remove_old_digests(digest);

    std::vector<Loaded> loaded;
    std::vector<unsigned> missing;
    for (const unsigned partition : partitions) {
      const json store = read_json(partition_path(root_, digest, partition) / "base/store.json");
      if (store.is_object()) {
        loaded.push_back({partition, store.at("keys").get<std::uint64_t>(), true, 0});
      } else {
        missing.push_back(partition);
      }
    }
    if (missing.empty()) return loaded;
    const auto keys = initial_keys(spec, missing, cancelled_);
    const std::size_t reused = loaded.size();
    loaded.resize(reused + missing.size());
    parallel_for(missing.size(), kBuilders, [&](std::size_t i) {
      const fs::path directory = partition_path(root_, digest, missing[i]);
      loaded[reused + i] = build(directory, spec, missing[i], keys[i]);
    });
    return loaded;
  });
}

StoreLibrary::Loaded StoreLibrary::build(const fs::path& partition_directory, const StoreSpec& spec,
                                         unsigned partition,
                                         std::span<const workload::KeyId> keys) {
  if (cancelled_) throw CommandError("unavailable", "loading was cancelled: the node is ending");
  const std::int64_t begin = monotonic_ns();
  const fs::path temporary = partition_directory / "base.tmp";
  fs::remove_all(temporary);
  fs::remove_all(partition_directory / "base");
  try {
    fs::create_directories(temporary);
    build_store(temporary / "db", spec, keys);
    write_json(temporary / "store.json", {{"keys", keys.size()}});
    sync_path(temporary);
    fs::rename(temporary, partition_directory / "base");
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);  // the disk may be full
    throw;
  }
  sync_path(partition_directory);
  return {partition, keys.size(), false, static_cast<double>(monotonic_ns() - begin) / 1e9};
}

void StoreLibrary::remove_old_digests(const std::string& current) {
  struct Digest {
    fs::file_time_type loaded;
    fs::path path;
  };
  std::vector<Digest> digests;
  for (const auto& entry : fs::directory_iterator(root_)) {
    if (!entry.is_directory()) continue;
    std::error_code missing;
    const auto loaded = fs::last_write_time(entry.path() / "spec.json", missing);
    digests.push_back({missing ? fs::file_time_type::min() : loaded, entry.path()});
  }
  std::sort(digests.begin(), digests.end(),
            [](const Digest& a, const Digest& b) { return a.loaded > b.loaded; });
  for (std::size_t i = kKept; i < digests.size(); ++i) {
    const std::string name = digests[i].path.filename();
    if (name != current && !in_use_.contains(name)) fs::remove_all(digests[i].path);
  }
}

std::unique_ptr<StoreLibrary::WorkingCopy> StoreLibrary::copy(const StoreSpec& spec,
                                                              unsigned partition) {
  const std::string digest = digest_of(spec);
  const fs::path directory = partition_path(root_, digest, partition);
  if (!fs::exists(directory / "base/store.json")) {
    throw CommandError("not_found", "partition " + std::to_string(partition) + " of " +
                                        std::to_string(spec.scale) + " is not loaded in " +
                                        (root_ / digest).string() +
                                        "; send `load` with the same workload, scale and "
                                        "store_profile first");
  }
  return on_disk("cannot copy the store " + directory.string(), [&] {
    fs::remove_all(directory / "work");
    fs::remove_all(directory / "work.tmp");
    copy_store(directory / "base/db", directory / "work.tmp");
    write_incarnation(directory / "work.tmp");
    fs::rename(directory / "work.tmp", directory / "work");
    return std::make_unique<WorkingCopy>(*this, digest, directory / "work", /*is_fresh=*/true);
  });
}

void StoreLibrary::require_left(const StoreSpec& spec, unsigned partition) const {
  const fs::path work = partition_path(root_, digest_of(spec), partition) / "work";
  if (fs::exists(work)) return;
  throw CommandError("not_found", "no working copy of partition " + std::to_string(partition) +
                                      " of " + std::to_string(spec.scale) + " is in " +
                                      work.parent_path().string() +
                                      "; expected one that a kvserver left there when it "
                                      "ended, with the same workload, scale, store_profile and "
                                      "method; `prepare` without keep_stores begins anew");
}

std::unique_ptr<StoreLibrary::WorkingCopy> StoreLibrary::left_copy(const StoreSpec& spec,
                                                                   unsigned partition) {
  require_left(spec, partition);
  const std::string digest = digest_of(spec);
  return std::make_unique<WorkingCopy>(
      *this, digest, partition_path(root_, digest, partition) / "work", /*is_fresh=*/false);
}

StoreLibrary::WorkingCopy::WorkingCopy(StoreLibrary& library, std::string digest,
                                       fs::path directory, bool is_fresh)
    : library_(library),
      digest_(std::move(digest)),
      directory_(std::move(directory)),
      incarnation_(read_incarnation(directory_)),
      is_fresh_(is_fresh),
      is_left_(!is_fresh) {
  ++library_.in_use_[digest_];
}

StoreLibrary::WorkingCopy::~WorkingCopy() {
  std::error_code ignored;  // what stays is removed by the next copy() or the next process
  if (!is_left_) fs::remove_all(directory_, ignored);
  if (--library_.in_use_[digest_] == 0) library_.in_use_.erase(digest_);
}

}  // namespace turntable::kv
