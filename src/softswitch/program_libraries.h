// The libraries of programs that softswitch loads while it runs, by what is in them: a file that
// was replaced is another library, though its path is the same.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/unique_fd.h"
#include "dataplane/program.h"

namespace turntable::softswitch {

// Not thread-safe.
class ProgramLibraries {
 public:
  struct Loaded {
    std::unique_ptr<dataplane::Program> program;
    std::string sha256;  // of the library's file, in hexadecimal
  };

  // `expected`: the SHA-256 that the file has to have; empty: any. What is loaded is what was
  // hashed, whatever happens to the file meanwhile. A library stays loaded for the life of the
  // process. `pipes`: as load_program has it. Throws std::runtime_error that names the file and the
  // reason.
  Loaded load(const std::string& path, const std::string& expected, std::uint32_t pipes);

 private:
  // Open for good: the dynamic linker knows a library by its path, which has their numbers.
  std::map<std::string, UniqueFd> copies_;
};

}  // namespace turntable::softswitch
