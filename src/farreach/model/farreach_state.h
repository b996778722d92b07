// The state of FarReach's model (docs/kvcache-model.md): two clients, two keys, one slot.
//
// Each key has a server's partition, and so a queue in the switch and a link, of its own; one
// process serves both. Numbers, epochs and snapshot ids are small integers.
#pragma once

#include "farreach/model/containers.h"
#include "farreach/model/data.h"

namespace turntable::model::farreach {

enum class Form : Byte { kNone, kGet, kGetForFill, kGetWithRecord, kWrite };

struct ToServer {
  Byte form : 3, client : 1, current : 1, token : 3;
  Record record;  // kWrite; kGetWithRecord: the slot's; kGetForFill: number is the epoch
};

// The answer to kGetForFill.
struct Fill {
  Byte used : 1, client : 1, current : 1, spare : 5;
  Byte epoch;
  Record record;
};

// Between ingress, which has looked the key and the flag up, and egress. `epoch`: of a fill.
struct Queued {
  Byte kind : 2, cached : 1, token : 3, client : 1, current : 1;  // kind 1: request, 2: fill
  Byte epoch;
  Record record;  // of a request only `write`
};

enum class Cell : Byte { kLatest, kAdmitted, kSuperseded };

struct Slot {
  Byte valid : 2, cell : 2, case1 : 4;  // case1: the token of the last report
  Byte epoch;                           // of ADMITTED
  Record record;                        // number 0: the load's, or with SUPERSEDED none
};

enum class Agent : Byte {
  kIdle,
  kInsert,     // the slot is written: next is cache_lookup
  kMakeValid,  // then `valid` 1
  kLoad,       // `valid` is 3: next is the slot's record
  kStore,      // on its way to the server
  kMakeInvalid,
  kRemove,  // from cache_lookup
  kDrain,   // the old key's queue
};

enum class Taking : Byte { kIdle, kBegun, kTaking, kFinishing };      // the agent's part
enum class Leading : Byte { kIdle, kBegin, kPoint, kFinish, kSave };  // the controller's next step

struct List {                                        // RELEASE_COPIES
  Byte used : 1, key : 2, confirmed : 1, spare : 4;  // key 0: of none, else key + 1
  Byte number;
};

enum class Recovery : Byte { kNone, kCollect, kReplay, kLargest, kFence, kFetch, kRestore };

struct Copy {
  Byte kept : 1, aged : 1, spare : 6;  // aged: a list has arrived since it was kept
  Record record;
};

struct Client {
  Byte busy : 1, key : 1, tells : 2, write : 4;  // tells: answered the last list
  Record floor;                                  // of its key when the operation began
  Copy copies[kKeys];
  Few<List, 3> lists;
};

struct State {
  Client clients[kClients];
  Few<Request, 2> copies;  // of requests, which the network delivers again, in any order

  Few<Queued, 2> queues[kKeys];
  Few<ToServer, 5> links[kKeys];
  Few<ToServer, 2> partial[kKeys];  // writes at the server whose rest is missing, in any order
  Few<Fill, 4> fills[kKeys];
  Byte numbers[kKeys];
  Byte lookup[kKeys];  // 1: the key has the slot
  Slot slot;
  Byte flag;  // 0, or the snapshot's token
  Byte is_serving;

  Agent agent;
  Byte agent_key;
  Byte owner;     // of the slot as the agent has it: 0, or key + 1
  Byte epoch;     // of the last admission
  Byte is_empty;  // the switch's epoch is EMPTY

  Leading leading;
  Taking taking;
  Byte snapshot;  // id of the last
  Byte confirmed;
  Byte place;  // the key that had the slot at the point, + 1
  Byte seen;
  Byte has_cut;
  Record cut;

  Byte file_key;  // the last snapshot: 0, or key + 1
  Record file;
  Byte store_key;  // STORE under way from agent to server: 0, or key + 1
  Byte store_token;
  Record store;

  Recovery recovery;
  Byte collected_from;  // clients
  Record collected[kKeys];
  Byte largest;
  Record fetched;
  Byte restored_key;

  Byte server_is_up;
  Byte fence;
  Record stores[kKeys];
  Byte server_token;  // of the last snapshot, in each partition
  Byte partition_token[kKeys];
  Record server_cut[kKeys];

  Record floors[kKeys];  // the newest record that a finished operation has told of
  Byte other_floor[8];   // of each write: of the other key, when it was invoked

  Byte operations, faults, parts, switch_crashes, server_crashes, agent_crashes, controller_crashes;
  Byte crashes, admissions, evictions, snapshots;  // all: how many are left
  Byte wrong;                                      // what has been violated, or 0
};

}  // namespace turntable::model::farreach
