// For tests: a process that has no descriptor left.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include "common/unique_fd.h"

namespace turntable::testing {

// As long as it lives, this process can open nothing: the next descriptor would be beyond the
// limit. Nobody may close one meanwhile.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const UniqueFd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next.get());
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptorLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptorLeft(const NoDescriptorLeft&) = delete;
  NoDescriptorLeft& operator=(const NoDescriptorLeft&) = delete;

 private:
  rlimit before_{};
};

}  // namespace turntable::testing
