// Credentials for tests: all of one run, or of another.
#pragma once

#include <atomic>
#include <string>

#include "net/credentials.h"

namespace turntable::net::testing {

inline Credentials credentials(const std::string& node) {
  return {std::string(Credentials::kMinSecretBytes, 's'), node};
}

// Of another node each time.
inline Credentials credentials() {
  static std::atomic<int> nodes{0};
  return credentials("node " + std::to_string(++nodes));
}

inline Credentials credentials_of_another_run(const std::string& node = "a node") {
  return {std::string(Credentials::kMinSecretBytes, 'x'), node};
}

}  // namespace turntable::net::testing
