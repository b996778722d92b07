// The error a control command answers with; see docs/architecture.md §2 for the codes.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace turntable {

class CommandError : public std::runtime_error {
 public:
  // `message` says what is wrong, where, what was expected, and what to do.
  CommandError(std::string code, const std::string& message)
      : std::runtime_error(message), code_(std::move(code)) {}

  const std::string& code() const noexcept { return code_; }

 private:
  std::string code_;
};

inline CommandError bad_argument(const std::string& message) {
  return CommandError("bad_argument", message);
}

}  // namespace turntable
