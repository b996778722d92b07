// Messages between kvserver, kvclient, cache-controller and switch-agent (docs/kvcache.md §7).
//
// kvserver and kvclient connect to the controller, the controller to the agent; TCP on the control
// network.
// A message is a type, an id, the store that it is for and three lists, of which most types leave
// some empty. Behind length, type and id (messages/message.h) come:
//
//   store 32; text: length 16, bytes; numbers: count 32, each 32;
//   records: count 32, each: key 16 bytes, kind 8, number 32, value: length 16, bytes
//
// An answer with a text is a failure and says why. Every request may come twice, and is answered
// every time.
// After a connection has broken, each side sends again what it has asked and got no answer to; only
// a client that is gone is asked no more.
//
// Requests of the controller end with it: one that is configured anew, or stopped, has asked
// nothing of anybody. What it asks a server is for one incarnation of the store of a partition,
// which is new whenever a store begins anew, and the same after a server was killed and has come
// back with its store: `store` says which. In other messages it is 0. No other store is asked for
// it, or does it; who asked gets a failure.
//
//  type           from, to            request                         answer
//  HELLO          server, controller  numbers: version, scale, 1 if   numbers: version, admissions;
//                                     it holds writes back until it   keys: to 1 all that the
//                                     is answered, else 0; of each    switch has of these
//                                     partition served its number     partitions, or may soon have
//                                     and its store (the first
//                                     message of a connection)
//                 controller, agent   numbers: version                numbers: version, epoch, 1 if
//                                                                     the switch serves, else 0
//  CLIENT_HELLO   client, controller  numbers: version (the first     -
//                                     message of a connection)
//  HOT            server, controller, records of hot keys that the    once settled: admissions
//                 agent               switch does not have
//                 agent, controller   (from the agent: keys)
//  EVICT          server, controller, keys                            once no packet on the way to
//                 agent                                               a server can have passed the
//                                                                     switch without finding them
//                                                                     uncached
//  EVICTED        agent, controller,  admissions that have ended      -
//                 server
//  FETCH          controller, server  numbers: 1 to mark the keys,    records, in this order
//                                     else 0; keys
//  SETTLED        controller, server  admissions (marks end)          -
//  STORE          agent, controller,  records: apply those that are   once applied or known to be
//                 server              newer than the store's; numbers old: -
//                                     [id] while snapshot id is being
//                                     taken: take the store's first
//  START          controller, server  numbers: snapshot id; id of the once the snapshot is taken: -
//                                     last complete one, if there is
//                                     any: others may go
//  RELEASE        controller, server  numbers: snapshot id: older     -
//                                     ones may go
//  MAX_NUMBER     controller, server  numbers: partition              numbers: the largest number
//                                                                     of any record in it, 0 if
//                                                                     there is none
//  FENCE          controller, server  numbers: a number, partition    no write that a switch has
//                                                                     numbered up to it is done
//                                                                     any more: -
//  REPLAY         controller, server  as STORE                        numbers: how many were newer,
//                                                                     and how many newer ones a
//                                                                     FENCE of before keeps out
//  RELEASE_COPIES controller, client  numbers: snapshot id, 1 if the  once done: -
//                                     client's answer to the list
//                                     before came before this
//                                     snapshot began, else 0; keys
//                                     with numbers: all of the
//                                     snapshot
//  COPIES         controller, client  numbers: how many at most;      copies in ascending order of
//                                     one key: only copies behind     keys; fewer than asked for:
//                                     it                              there are no more
//  CACHED_SET     controller, agent   numbers: 1 to be told whether   keys; numbers: digest (2),
//                                     requests have passed            slots of the cache, epoch,
//                                                                     1 if the switch serves, else
//                                                                     0; if asked: 1 if none has
//                                                                     since it was started, else 0
//  ADMIT          controller, agent   records                         once settled: admissions
//  SLOTS          controller, agent   -                               admissions of all keys that
//                                                                     have a slot, also of those
//                                                                     on their way in or out
//  READMIT        controller, agent   numbers: epoch; records of      once done: -
//                                     keys whose servers began anew:
//                                     they take the place of what the
//                                     slots hold; no request may be
//                                     under way
//  RESTORE        controller, agent   numbers: epoch; records, the    once done, and the switch
//                                     newest of their keys, for a     serves: -
//                                     switch that no request has
//                                     passed since it was started:
//                                     they take the place of what has
//                                     been admitted since
//  SERVE          controller, agent   numbers: epoch: the stores      the switch serves: -
//                                     begin anew, there is nothing to
//                                     bring back
//  BEGIN          controller, agent   numbers: snapshot id, epoch     once nothing is under way: -
//  POINT          controller, agent   numbers: snapshot id, epoch     the flag is set: -
//  FINISH         controller, agent   numbers: snapshot id, epoch     records of the cut; failure:
//                                                                     it was given up
//  SET_NUMBERS    controller, agent   numbers: the largest number,    every cell of `seq` has it: -
//                                     epoch
//
// A request that names an epoch (cache/switch_epoch.h) fails in every other; BEGIN and READMIT also
// while the switch does not serve.
//
// Admissions (cache/admission.h) are lists of keys, `number` being the admission's, and `numbers`
// with their ids in the same order; id 0: refused. An agent that has admission off refuses all HOT.
//
// Marks (NetCache's blocking admission): from FETCH to SETTLED the server holds back writes of a
// marked key. A write that comes then, or later, and has passed the switch before the key was there
// (kv/cached_keys.h), must not be executed while the switch has the key, or the switch would go on
// to serve the older record: the server sends EVICT and waits for the answer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "farreach/cache/record.h"
#include "messages/message.h"

namespace turntable::cache {

inline constexpr std::uint32_t kMessagesVersion = 4;

enum class MessageType : std::uint8_t {
  kHello = 0x01,
  kHot = 0x02,
  kEvict = 0x03,
  kEvicted = 0x04,
  kClientHello = 0x05,
  kFetch = 0x10,
  kSettled = 0x11,
  kStore = 0x12,
  kStart = 0x13,
  kRelease = 0x14,
  kMaxNumber = 0x15,
  kReplay = 0x16,
  kReleaseCopies = 0x17,
  kCopies = 0x18,
  kFence = 0x19,
  kCachedSet = 0x20,
  kAdmit = 0x21,
  kReadmit = 0x22,
  kBegin = 0x24,
  kPoint = 0x25,
  kFinish = 0x26,
  kSetNumbers = 0x27,
  kRestore = 0x28,
  kServe = 0x29,
  kSlots = 0x2A,
};

struct Message {
  MessageType type{};
  bool is_answer = false;
  std::uint32_t id = 0;
  std::uint32_t store = 0;
  std::string text;
  std::vector<std::uint32_t> numbers;
  std::vector<Record> records;
  // Not on the wire. Of an answer: the question was sent before, on a connection that broke, and
  // may have been carried out then.
  bool was_asked_before = false;

  bool operator==(const Message&) const = default;
};

inline Message request(MessageType type, std::vector<std::uint32_t> numbers = {},
                       std::vector<Record> records = {}) {
  return {.type = type, .text = {}, .numbers = std::move(numbers), .records = std::move(records)};
}
inline Message answer_to(const Message& request, std::vector<std::uint32_t> numbers = {},
                         std::vector<Record> records = {}) {
  return {.type = request.type,
          .is_answer = true,
          .id = request.id,
          .text = {},
          .numbers = std::move(numbers),
          .records = std::move(records)};
}
inline Message failure_of(const Message& request, std::string text) {
  return {.type = request.type,
          .is_answer = true,
          .id = request.id,
          .text = std::move(text),
          .numbers = {},
          .records = {}};
}

inline bool is_refusal(const Message& answer) {
  return !answer.text.empty();
}

// What the library asks of a message (messages/message.h).
const char* name_of(MessageType type);
void write_body(const Message& message, ByteWriter& to);
void read_body(ByteReader& from, Message& message);

// How many bytes encode() would append.
std::size_t encoded_bytes(const Message& message);

}  // namespace turntable::cache
