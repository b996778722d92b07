// A file of results that is opened before anything is measured: hours of measuring must not end at
// a name that cannot be written.
#pragma once

#include <string>

#include "common/unique_fd.h"

namespace turntable::mcload {

class OutputFile {
 public:
  // `option` begins the messages; "-" is standard output. What the file holds stays until write().
  // Throws std::runtime_error where it cannot be written.
  OutputFile(std::string option, std::string path);
  // A file that did not exist before, and was never written, is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The file then holds this and nothing else. Throws std::runtime_error.
  void write(const std::string& contents);

 private:
  [[noreturn]] void fail(int error) const;

  const std::string option_, path_;
  bool is_new_ = false;
  UniqueFd fd_;
};

}  // namespace turntable::mcload
