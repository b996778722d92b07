// What a failed accept(2) means for the listening socket.
#pragma once

#include <cerrno>

namespace turntable {

// No descriptor or memory is left: the connection stays in the queue, so that whoever polls the
// listening socket must leave it alone for a while. Of any other failure the connection has gone.
inline bool is_out_of_resources(int accept_error) {
  return accept_error == EMFILE || accept_error == ENFILE || accept_error == ENOBUFS ||
         accept_error == ENOMEM;
}

}  // namespace turntable
