#include "hybridlog/index_file.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "common/errno_error.h"

namespace turntable::hybridlog {
namespace {

// A file is its header and blocks, each with a CRC. A block has some buckets, one after the other:
// the number of a bucket's entries, then these.
constexpr std::uint64_t kMagic = 0x31786564'6e696c68;  // "hlindex1"
constexpr std::size_t kBucketsOfBlock = 4096;

using Words = std::vector<std::uint64_t>;

struct FileHeader {
  std::uint64_t magic, buckets, from;
};
struct BlockHeader {
  std::uint64_t first_bucket, words, crc;
};

// Of another file no block is right.
std::uint64_t crc_of(const FileHeader& file, const BlockHeader& header, const Words& words) {
  uLong crc = ::crc32(0, reinterpret_cast<const Bytef*>(&file), sizeof file);
  crc = ::crc32(crc, reinterpret_cast<const Bytef*>(&header.first_bucket),
                sizeof header.first_bucket);
  return ::crc32_z(crc, reinterpret_cast<const Bytef*>(words.data()),
                   words.size() * sizeof(std::uint64_t));
}

class Closer {
 public:
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

class Writer {
 public:
  explicit Writer(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wbe")) {
    if (!file_) fail();
  }
  void put(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, file_.get()) != bytes) fail();
    bytes_ += bytes;
  }
  void sync() {
    if (std::fflush(file_.get()) != 0 || ::fdatasync(::fileno(file_.get())) != 0) fail();
  }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  [[noreturn]] void fail() const { throw errno_error("cannot write " + path_); }

  const std::string& path_;
  File file_;
  std::uint64_t bytes_ = 0;
};

Words words_of(HashIndex& index, std::size_t first, std::size_t end) {
  Words words;
  for (std::size_t bucket = first; bucket < end; ++bucket) {
    const std::size_t count = words.size();
    words.push_back(0);
    index.for_each_entry(bucket, [&](const HashIndex::Word& word) {
      const IndexEntry entry(word.load());
      // A tentative one's record is not appended yet: it will lie above `from`.
      if (!entry.is_free() && !entry.is_tentative()) words.push_back(entry.word());
    });
    words[count] = words.size() - count - 1;
  }
  return words;
}

// False: these are no buckets.
bool put_into(HashIndex& index, std::size_t first, std::size_t end, const Words& words) {
  std::size_t at = 0;
  for (std::size_t bucket = first; bucket < end; ++bucket) {
    if (at == words.size() || words[at] > words.size() - at - 1) return false;
    for (std::uint64_t rest = words[at++]; rest > 0; --rest) {
      const IndexEntry entry(words[at++]);
      // All that an index looks at of a hash: its bucket and its tag.
      raise_entry(index, entry.tag() << kAddressBits | bucket, entry.address());
    }
  }
  return at == words.size();
}

bool get(std::FILE* file, void* data, std::size_t bytes) {
  return std::fread(data, 1, bytes, file) == bytes;
}

}  // namespace

IndexFile write_index(const std::string& path, HashIndex& index, Address from,
                      const std::stop_token& stop) {
  Writer file(path);
  const FileHeader header{kMagic, index.buckets(), from};
  file.put(&header, sizeof header);
  for (std::size_t first = 0; first < index.buckets(); first += kBucketsOfBlock) {
    if (stop.stop_requested()) throw errno_error("cannot write " + path, ECANCELED);
    const Words words = words_of(index, first, std::min(index.buckets(), first + kBucketsOfBlock));
    BlockHeader block{first, words.size(), 0};
    block.crc = crc_of(header, block, words);
    file.put(&block, sizeof block);
    file.put(words.data(), words.size() * sizeof(std::uint64_t));
  }
  file.sync();
  return {path, from, file.bytes()};
}

std::optional<std::string> read_index(const IndexFile& from, HashIndex& index) {
  const File file(std::fopen(from.path.c_str(), "rbe"));
  if (!file) return std::string("it cannot be read: ") + std::strerror(errno);
  FileHeader header{};
  if (!get(file.get(), &header, sizeof header) || header.magic != kMagic) return "it is no index";
  if (header.from != from.from) return "it is another checkpoint's";
  if (header.buckets != index.buckets()) {
    return "it has " + std::to_string(header.buckets) + " buckets, the store " +
           std::to_string(index.buckets());
  }
  Words words;
  for (std::size_t first = 0; first < index.buckets(); first += kBucketsOfBlock) {
    const std::size_t end = std::min(index.buckets(), first + kBucketsOfBlock);
    BlockHeader block{};
    if (!get(file.get(), &block, sizeof block)) return "it is too short";
    if (block.words > from.bytes / sizeof(std::uint64_t)) return "it was changed";
    words.resize(block.words);
    if (!get(file.get(), words.data(), words.size() * sizeof(std::uint64_t)))
      return "it is too short";
    if (block.first_bucket != first || block.crc != crc_of(header, block, words) ||
        !put_into(index, first, end, words)) {
      return "it was changed: the CRC of buckets from " + std::to_string(first) +
             " on is another one";
    }
  }
  return std::nullopt;
}

}  // namespace turntable::hybridlog
