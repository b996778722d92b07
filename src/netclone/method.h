// The methods that are compared (netclone reference §1).
#pragma once

#include <cstdint>
#include <string>

namespace turntable::netclone {

enum class Method : std::uint8_t {
  kNoClone,            // the client chooses a server
  kCClone,             // the client sends every request to two servers
  kNetClone,           // the switch clones requests whose two servers look idle
  kNetCloneRackSched,  // and sends others to the one of the two with the shorter queue
  kLaedge,             // a coordinator clones requests while servers are idle, and queues others
};

const char* method_name(Method method);

// `where` begins the message. Throws CommandError bad_argument for another name.
Method method_from_name(const std::string& where, const std::string& name);

constexpr bool clones_in_switch(Method method) {
  return method == Method::kNetClone || method == Method::kNetCloneRackSched;
}

// When LAEDGE's coordinator takes a server for idle.
enum class LaedgeMode : std::uint8_t {
  kBinary,  // as published: nothing is under way to it
  kSlots,   // fewer requests are under way to it than it has workers
};

LaedgeMode laedge_mode_from_name(const std::string& where, const std::string& name);

}  // namespace turntable::netclone
