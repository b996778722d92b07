#include "bfrt_driver/connection_state.h"

#include <stdexcept>
#include <string>

namespace turntable::bfrt_driver {
namespace {

using State = ConnectionState;
using Event = ConnectionEvent;

[[noreturn]] void impossible(State state, Event event) {
  throw std::logic_error("connection: event " + std::to_string(static_cast<int>(event)) +
                         " cannot come while " + std::string(name_of(state)));
}

}  // namespace

ConnectionStep next_step(ConnectionState state) {
  switch (state) {
    case State::kDisconnected:
      return ConnectionStep::kConnect;
    case State::kConnected:
      return ConnectionStep::kSubscribe;
    case State::kSubscribed:
      return ConnectionStep::kBind;
    case State::kBound:
      return ConnectionStep::kServe;
    case State::kLost:
      return ConnectionStep::kClose;
  }
  return ConnectionStep::kClose;
}

ConnectionState after(ConnectionState state, ConnectionEvent event) {
  const bool open =
      state == State::kConnected || state == State::kSubscribed || state == State::kBound;
  switch (event) {
    case Event::kClosed:
      return State::kDisconnected;
    case Event::kStreamEnded:
    case Event::kProgramChanged:
      return open ? State::kLost : state;  // heard of too late: that stream is of no use already
    case Event::kChannelReady:
      if (state == State::kDisconnected) return State::kConnected;
      break;
    case Event::kSubscribed:
      if (state == State::kConnected) return State::kSubscribed;
      break;
    case Event::kBound:
      if (state == State::kSubscribed) return State::kBound;
      break;
    case Event::kProgramOwned:
      if (state == State::kSubscribed) return State::kSubscribed;
      break;
    case Event::kOtherProgram:
      if (state == State::kSubscribed) return State::kLost;
      break;
  }
  // An answer to what was asked on a stream that has been lost meanwhile.
  if (state == State::kLost) return State::kLost;
  impossible(state, event);
}

std::string_view name_of(ConnectionState state) {
  switch (state) {
    case State::kDisconnected:
      return "disconnected";
    case State::kConnected:
      return "connected";
    case State::kSubscribed:
      return "subscribed";
    case State::kBound:
      return "bound";
    case State::kLost:
      return "lost";
  }
  return "unknown";
}

}  // namespace turntable::bfrt_driver
