// Sizes of NetClone's tables and registers, and numbers that its control plane must know.
#ifndef NETCLONE_SIZES_P4
#define NETCLONE_SIZES_P4

const int MAX_SERVERS = 16;                 // logical servers, numbered from 0
const int GROUP_ENTRIES = 256;              // ordered pairs of them: 16 * 15 = 240
const int DESTINATION_ENTRIES = 64;         // three for each server, and one for servers that nobody described
const int FINGERPRINTS = 131072;            // 2^17, of each of the two filter tables
const bit<32> LAST_SEQUENCE = 100000000;    // then 1 again: 0 marks an empty fingerprint

#endif
