#include "softswitch/program_libraries.h"

#include <sys/mman.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "common/errno_error.h"
#include "common/sha256.h"

namespace turntable::softswitch {
namespace {

std::string read_library(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    throw std::runtime_error(path + ": there is no such file; expected a program, NAME.so");
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return bytes;
}

UniqueFd copy_in_memory(const std::string& path, const std::string& bytes) {
  const std::string name = std::filesystem::path(path).filename();
  UniqueFd copy(::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!copy) throw errno_error("cannot make a copy in memory of " + path);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = ::write(copy.get(), bytes.data() + done, bytes.size() - done);
    if (size < 0) throw errno_error("cannot write a copy in memory of " + path);
    done += static_cast<std::size_t>(size);
  }
  return copy;
}

}  // namespace

ProgramLibraries::Loaded ProgramLibraries::load(const std::string& path,
                                                const std::string& expected, std::uint32_t pipes) {
  const std::string bytes = read_library(path);
  const std::string hash = sha256_of(bytes);
  if (!expected.empty() && hash != expected) {
    throw std::runtime_error(path + ": its SHA-256 is " + hash + "; expected " + expected +
                             "; was the file replaced?");
  }
  UniqueFd& copy = copies_[hash];
  if (!copy) copy = copy_in_memory(path, bytes);
  const std::string file = "/proc/self/fd/" + std::to_string(copy.get());
  try {
    return {dataplane::load_program(file.c_str(), pipes), hash};
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace turntable::softswitch
