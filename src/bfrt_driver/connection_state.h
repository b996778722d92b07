// The states of a driver's connection to a switch, apart from what sends and waits, so that a test
// can search all orders of them (connection_state_test.cc).
//
//   disconnected --channel_ready--> connected --subscribed--> subscribed --bound--> bound
//        ^                              |                         |  ^ |              |
//        |                              |                         |  +-+ program_owned |
//        |                              v                         v                   v
//        +----------closed---------- lost <------ stream_ended, other_program, program_changed
//
// disconnected  there is no stream to the switch
// connected     the switch can be reached; our client id is not known there
// subscribed    the switch knows our client id; which program it runs has not been checked
// bound         the program is the one that was asked for and is ours: tables may be read, written
// lost          the stream has ended, or must not be used any more; it is closed before anything
// else
//
// A switch keeps client id and program for a client exactly as long as its stream is open. So the
// way to `bound` always goes through `subscribed`, where the program is checked, and a switch that
// was started again with another program is never taken for the one before.
#pragma once

#include <cstdint>
#include <string_view>

namespace turntable::bfrt_driver {

enum class ConnectionState : std::uint8_t { kDisconnected, kConnected, kSubscribed, kBound, kLost };

enum class ConnectionEvent : std::uint8_t {
  kChannelReady,    // the switch can be reached
  kSubscribed,      // it has accepted our client id
  kBound,           // it runs the program asked for, and has bound it to us
  kProgramOwned,    // another client has the program
  kOtherProgram,    // it runs another program
  kProgramChanged,  // it says on the stream that it is given another program
  kStreamEnded,     // the stream has ended without our doing; also where our id is another's
  kClosed,          // we have closed our side
};

// What to do next on the way to `bound`.
enum class ConnectionStep : std::uint8_t { kConnect, kSubscribe, kBind, kServe, kClose };

ConnectionStep next_step(ConnectionState state);

// Throws std::logic_error where the event cannot come in that state.
ConnectionState after(ConnectionState state, ConnectionEvent event);

std::string_view name_of(ConnectionState state);

}  // namespace turntable::bfrt_driver
