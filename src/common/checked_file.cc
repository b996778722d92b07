#include "common/checked_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

UniqueFd open_path(const std::string& path, int flags) {
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file) throw errno_error("cannot write " + path);
  return file;
}

// The new file is there, and may be gone after a crash of the machine: neither "done" nor "not
// done" would be true, now or at another try.
[[noreturn]] void end_in_doubt(const std::string& path, const std::string& what) {
  const std::string why = std::strerror(errno);
  std::fprintf(stderr,
               "%s: the new %s is there, but its directory cannot be synced (%s): which one is "
               "there after a crash of the machine is unknown, so this process ends; see to the "
               "device, and begin it again\n",
               path.c_str(), what.c_str(), why.c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

void write_checked(const std::string& path, const std::string& what, const Json& content) {
  const std::string fresh = path + ".new";
  std::ofstream file(fresh);
  file << Json{{what, content}, {"crc32", crc32_of(content)}}.dump(1) << "\n";
  file.close();
  if (!file) throw errno_error("cannot write " + fresh);
  const UniqueFd written = open_path(fresh, O_RDWR);
  if (::fsync(written.get()) != 0) throw errno_error("cannot write " + fresh);
  const UniqueFd directory =
      open_path(std::filesystem::absolute(path).parent_path(), O_RDONLY | O_DIRECTORY);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) throw errno_error("cannot write " + path);
  if (::fsync(directory.get()) != 0) end_in_doubt(path, what);
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
