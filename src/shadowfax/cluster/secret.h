// What the connections of one process show to other processes of its cluster.
#pragma once

#include <functional>
#include <string>

#include "net/credentials.h"

namespace turntable::shadowfax {

// By a name that no other connection of the process has.
using CredentialsFor = std::function<net::Credentials(const std::string& connection)>;

// Of a node, which reads the secret of its run once, when it begins. Empty where it is given none.
// Throws CommandError.
inline CredentialsFor credentials_of_node(const std::string& secret_file,
                                          const std::string& directory, const std::string& name) {
  if (secret_file.empty()) return {};
  return [node = net::Credentials::from_file(secret_file, directory, name)](
             const std::string& connection) { return node.of_connection(connection); };
}

}  // namespace turntable::shadowfax
