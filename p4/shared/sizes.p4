// Sizes of all tables, so that what a control plane may rely on is in one place.
#ifndef SHARED_SIZES_P4
#define SHARED_SIZES_P4

const int MAX_PARTITIONS = 128;
const int IPV4_LPM_ENTRIES = 1024;
const int SERVER_PORT_ENTRIES = 128;
const int OPERATION_ENTRIES = 32;
const int DROP_ENTRIES = 8;

// Programs with a cache.
const int SLOTS = 32768;          // cached keys; also cells of `seq`, which all keys share by hash
const int SKETCH_CELLS = 65536;   // of each of the four rows
const int BLOOM_CELLS = 262144;   // of each of the three rows
const int CONTROL_PORT_ENTRIES = 4;
const int CLIENT_SESSION_ENTRIES = 1024;
const int SAMPLING_ENTRIES = 4;
const int OUTCOME_CELLS = 64;

#endif
