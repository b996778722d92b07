// SIGTERM and SIGINT as a readable file descriptor.
#pragma once

#include <memory>

namespace turntable::node {

// While at least one object lives, the two signals no longer end the process but make fd()
// readable, in every object, until the last one is gone. Handlers (not signalfd) are used because a
// program may have started threads before.
class TerminationSignals {
 public:
  TerminationSignals();
  ~TerminationSignals();
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;

  int fd() const;

 private:
  struct Installed;
  std::shared_ptr<Installed> installed_;
};

}  // namespace turntable::node
