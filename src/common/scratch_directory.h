// A directory of a test, which ends with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/errno_error.h"

namespace turntable {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string path = std::filesystem::temp_directory_path() / "turntable-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) throw errno_error("cannot create " + path);
    path_ = path;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace turntable
