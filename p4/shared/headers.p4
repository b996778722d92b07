// Headers that every key-value program knows, and what its blocks tell each other about a packet.
#ifndef SHARED_HEADERS_P4
#define SHARED_HEADERS_P4

#include "network.p4"

// The first header of every key-value packet. The key's last word is sent as two swapped halves, so that its top 16
// bits can be range-matched (FarReach reference §5.1).
header op_h {
    bit<16> optype;
    bit<32> keylolo;
    bit<32> keylohi;
    bit<32> keyhilo;
    bit<16> keyhihilo;
    bit<16> keyhihihi;
}

// Which way a key-value packet goes, found by its UDP ports.
enum bit<8> direction_t {
    NONE = 0,
    REQUEST = 1,
    ANSWER = 2
}

// What became of a packet. The parser starts with NOT_IPV4 (all metadata is 0) or UNROUTED; blocks move it on.
enum bit<8> verdict_t {
    NOT_IPV4 = 0,
    UNROUTED = 1,
    FORWARDED = 2,
    UNKNOWN_OPERATION = 3,
    NO_PARTITION = 4,
    NO_ROUTE = 5,
    FORGED = 6,      // a server's packet or a control frame from a port without one, or a control frame that names no slot
    MALFORMED = 7,   // lengths that contradict each other, a header that is cut off, UDP whose ports cannot be read
    NO_SESSION = 8   // nobody told where this client's answers go
}

#endif
