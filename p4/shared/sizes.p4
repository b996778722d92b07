// Sizes of all tables, so that what a control plane may rely on is in one place.
#ifndef SHARED_SIZES_P4
#define SHARED_SIZES_P4

#define MAX_PARTITIONS 128
#define IPV4_LPM_ENTRIES 1024
#define SERVER_PORT_ENTRIES 128
#define OPERATION_ENTRIES 32
#define DROP_ENTRIES 8

// Programs with a cache.
#define SLOTS 32768          // cached keys; also cells of `seq`, which all keys share by hash
#define SKETCH_CELLS 65536   // of each of the four rows
#define BLOOM_CELLS 262144   // of each of the three rows
#define CONTROL_PORT_ENTRIES 4
#define CLIENT_SESSION_ENTRIES 1024
#define SAMPLING_ENTRIES 4
#define OUTCOME_CELLS 64

#endif
