// The state of NetCache's model (docs/kvcache-model.md): two clients, two keys, one slot. Each key
// has a server's partition of its own; one process serves both, and one controller connection.
#pragma once

#include "farreach/model/containers.h"
#include "farreach/model/data.h"

namespace turntable::model::netcache {

enum class Form : Byte { kNone, kGet, kWrite, kWriteOfCached };

struct ToServer {
  Byte form : 3, client : 1, current : 1, spare : 3;
  Record record;
};

// Between ingress and egress. kind 1: request, 2: value update.
struct Queued {
  Byte kind : 2, cached : 1, client : 1, current : 1, spare : 3;
  Record record;  // of a request only `write`
};

struct Slot {
  Byte valid : 1, is_latest : 1, spare : 6;  // else SUPERSEDED by the write of record.number
  Record record;
};

enum class Agent : Byte { kIdle, kInsert, kMakeValid, kRemove, kDrain };

// Of a key at the controller: what has been sent, and is not answered yet.
// kOrphan: as kAdmit, but the controller that asked has died.
enum class Stage : Byte { kNone, kFetch, kAdmit, kEntering, kOrphan };

struct Admission {
  Stage stage;
  Record record;  // fetched
};

enum class Known : Byte { kNothing, kMarked, kCached, kEvicting };

// At the key's server. `id` and `number` are the admission's; of a marked key `id` is the last that
// is known to have ended.
struct KeyState {
  Known known;
  Byte id;
  Byte number;
};

enum class Type : Byte { kNone, kFetch, kSettled, kEvicted, kEvictAnswer, kCached };

struct Message {  // from the controller to the server, in order
  Type type;
  Byte key;  // kCached: key + 1, or 0: none is cached
  Byte id;   // of the admission; 0: refused
  Byte number;
};

enum class Recovery : Byte { kNone, kFence, kFetch, kRestore };

struct Client {
  Byte busy : 1, key : 1, spare : 2, write : 4;
  Record floor;  // of its key when the operation began
};

struct State {
  Client clients[kClients];
  Few<Request, 2> copies;  // of requests, which the network delivers again

  Few<Queued, 2> queues[kKeys];
  Few<ToServer, 5> links[kKeys];
  Few<ToServer, 2> partial[kKeys];  // writes at the server whose rest is missing, in any order
  Few<Record, 3> updates[kKeys];    // on their way to the switch; of number 0 there are none
  Byte numbers[kKeys];
  Byte lookup[kKeys];
  Slot slot;
  Byte is_serving;

  Agent agent;
  Byte agent_key;
  Byte owner;    // 0, or key + 1
  Byte slot_id;  // the admission that the slot is of
  Byte slot_number;
  Byte last_id;

  Admission admissions[kKeys];
  Few<Message, 8> messages;
  Byte evict[kKeys];  // 0, or the id of the admission that the server has asked to end
  Byte hello;         // of the server: 1 sent, 2 its answer is on the way

  Recovery recovery;
  Byte largest;
  Record fetched;
  Byte restored_key;

  Byte server_is_up;
  Byte knows_cached;  // the server has been told what the switch has
  Byte fence;
  Record stores[kKeys];
  Byte pending[kKeys];  // number of the value update that is not acknowledged, or 0
  KeyState keys[kKeys];

  Record floors[kKeys];
  Byte operations, faults, parts, switch_crashes, server_crashes, agent_crashes, controller_crashes;
  Byte crashes, admissions_left, evictions;
  Byte wrong;
};

}  // namespace turntable::model::netcache
