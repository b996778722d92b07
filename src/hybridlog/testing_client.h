// A session with a thread of its own (for tests).
#pragma once

#include "hybridlog/store.h"

namespace turntable::hybridlog::testing {

class OwnThread {
 protected:
  explicit OwnThread(Store& store) : own_(store.epoch()) { own_.protect(); }
  Epoch::Thread own_;
};

class Client : OwnThread, public Session {
 public:
  explicit Client(Store& store, SessionId id = {}) : OwnThread(store), Session(store, own_, id) {}
  void refresh() { own_.refresh(); }
};

}  // namespace turntable::hybridlog::testing
