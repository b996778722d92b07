#include "shadowfax/server/index_writer.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

namespace turntable::shadowfax {
namespace {

namespace fs = std::filesystem;

// What a recovery reads of the log is a few times the index, and what is written for that a part of
// what the log takes.
constexpr std::uint64_t kLogPerIndex = 4;
constexpr std::uint64_t kBucketBytes = 64;

}  // namespace

IndexWriter::IndexWriter(hybridlog::Store& store, std::string checkpoint_file,
                         std::optional<hybridlog::IndexFile> last)
    : store_(store),
      prefix_(std::move(checkpoint_file) + ".index-"),
      newest_(last),
      named_(std::move(last)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

std::optional<hybridlog::IndexFile> IndexWriter::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

void IndexWriter::named(const std::optional<hybridlog::IndexFile>& index) {
  {
    const std::lock_guard lock(mutex_);
    named_ = index;
    is_asked_ = true;
  }
  changed_.notify_all();
}

IndexWriter::Counts IndexWriter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void IndexWriter::work(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return is_asked_; })) return;
      is_asked_ = false;
    }
    remove_others();
    if (is_due()) write(stop);
  }
}

// One that failed is tried again when the log has grown as much once more: it may be its space.
bool IndexWriter::is_due() const {
  const auto last = newest();
  const std::uint64_t bytes = last ? last->bytes : kBucketBytes * store_.index().buckets();
  const hybridlog::Address from = last ? last->from : store_.log().begin();
  return store_.log().tail() - std::max(from, failed_at_) >= kLogPerIndex * bytes;
}

void IndexWriter::write(const std::stop_token& stop) {
  try {
    auto index = store_.write_index(prefix_ + std::to_string(store_.versions().version()), stop);
    const std::lock_guard lock(mutex_);
    newest_ = std::move(index);
    ++counts_.written;
    counts_.why.clear();
  } catch (const std::exception& error) {
    failed_at_ = store_.log().tail();
    remove_others();
    const std::lock_guard lock(mutex_);
    ++counts_.failed;
    counts_.why = error.what();
  }
}

// Also what a crash has left.
void IndexWriter::remove_others() const {
  std::optional<hybridlog::IndexFile> newest, named;
  {
    const std::lock_guard lock(mutex_);
    newest = newest_;
    named = named_;
  }
  const auto is_kept = [](const auto& index, const fs::path& path) {
    return index && fs::path(index->path).filename() == path.filename();
  };
  const fs::path prefix(prefix_);
  std::error_code error;
  const fs::path directory = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  for (fs::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error)) {
    const fs::path& path = each->path();
    if (!path.filename().string().starts_with(prefix.filename().string())) continue;
    std::error_code ignored;
    if (!is_kept(newest, path) && !is_kept(named, path)) fs::remove(path, ignored);
  }
}

}  // namespace turntable::shadowfax
