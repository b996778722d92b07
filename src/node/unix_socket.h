// Unix stream sockets of the control protocol.
#pragma once

#include <filesystem>
#include <string>

#include "common/unique_fd.h"

namespace turntable::node {

// <directory>/<node_name>.sock. Throws CommandError (bad_argument) when the name is not usable as a
// file name.
std::filesystem::path socket_path(const std::filesystem::path& directory,
                                  const std::string& node_name);

// Listens on `path`. The socket file of a dead node is replaced; when a live one listens there, or
// the path does not fit sockaddr_un, throws std::runtime_error. Two starters at the same moment are
// serialized by a lock on the directory.
UniqueFd listen_unix(const std::filesystem::path& path);

// Connects. An empty result: nobody listens there now (no file, or a dead node's). Throws on any
// other error.
UniqueFd connect_unix(const std::filesystem::path& path);

}  // namespace turntable::node
