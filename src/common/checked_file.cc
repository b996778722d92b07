#include "common/checked_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable {
namespace {

using Json = nlohmann::json;

std::uint64_t crc32_of(const Json& content) {
  const std::string text = content.dump();
  return ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

void sync_path(const std::string& path, int flags) {
  const UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) throw errno_error("cannot write " + path);
}

}  // namespace

void write_checked(const std::string& path, const std::string& what, const Json& content) {
  const std::string fresh = path + ".new";
  std::ofstream file(fresh);
  file << Json{{what, content}, {"crc32", crc32_of(content)}}.dump(1) << "\n";
  file.close();
  if (!file) throw errno_error("cannot write " + fresh);
  sync_path(fresh, O_RDWR);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) throw errno_error("cannot write " + path);
  sync_path(std::filesystem::absolute(path).parent_path(), O_RDONLY | O_DIRECTORY);
}

std::optional<Json> read_checked(const std::string& path, const std::string& what) {
  std::ifstream file(path);
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    throw errno_error("cannot read " + path);
  }
  try {
    const Json whole = Json::parse(file);
    Json content = whole.at(what);
    if (whole.at("crc32").get<std::uint64_t>() != crc32_of(content)) {
      throw CheckedFileError(path + ": the " + what + " was changed: its CRC is another one");
    }
    return content;
  } catch (const Json::exception& error) {
    throw CheckedFileError(path + ": no " + what + ": " + error.what());
  }
}

}  // namespace turntable
