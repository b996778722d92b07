// What the connections of one process show to other processes of its cluster.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "net/credentials.h"

namespace turntable::shadowfax {

// By a name that no other connection of the process has.
using CredentialsFor = std::function<net::Credentials(const std::string& connection)>;

// Of a node that reads the secret of its run when it begins. Empty where it is given none. Throws
// CommandError.
inline CredentialsFor credentials_of_node(const std::string& secret_file,
                                          const std::string& directory) {
  if (secret_file.empty()) return {};
  const char* const host = std::getenv("TURNTABLE_HOST");
  const std::string node = std::string(host == nullptr ? "" : host) + ":" + directory + "/";
  return [secret = net::Credentials::from_file(secret_file, directory, "").secret(), node](
             const std::string& connection) { return net::Credentials(secret, node + connection); };
}

}  // namespace turntable::shadowfax
