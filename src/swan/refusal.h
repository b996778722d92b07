// What the kernel refused: for good, or as things are.
#pragma once

#include <cerrno>

namespace turntable::swan {

inline constexpr const char* kUnsupported = "unsupported";

// The code of a CommandError about it: "unsupported" where no other attempt can do better, because
// this machine lacks it or forbids it. Anything else may pass and is "unavailable": a group that is
// busy or was removed, the realtime share of a group that has just been removed, classes of service
// or memory that others use.
inline const char* code_of_refusal(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
    case EROFS:
    case EOPNOTSUPP:
    case ENOSYS:
      return kUnsupported;
    default:
      return "unavailable";
  }
}

}  // namespace turntable::swan
