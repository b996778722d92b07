// What becomes of packets in egress, by number: cells of the counter `outcome`. A write that goes to a server while a snapshot is being taken counts in
// the cell of its outcome + WITH_CASE3.
#ifndef SHARED_CACHE_OUTCOME_NUMBERS_P4
#define SHARED_CACHE_OUTCOME_NUMBERS_P4

enum bit<8> outcome_t {
    UNKNOWN = 0,              // no rule for it: dropped
    MALFORMED = 1,            // shorter than its lengths say: dropped
    NUMBERS_USED_UP = 2,      // a write whose cell of `seq` is at its end: dropped
    GET_HIT = 3,
    GET_UNCACHED = 4,
    GET_HOT = 5,              // uncached, and reported as hot
    GET_INVALID = 6,          // valid 0
    GET_ADMITTED = 7,
    GET_SUPERSEDED = 8,
    GET_BEING_EVICTED = 9,    // valid 3, and the slot has not the newest record
    PUT_HIT = 10,
    PUT_CASE1 = 11,           // a hit, and the old record reported
    PUT_UNCACHED = 12,
    PUT_HOT = 13,
    PUT_INVALID = 14,
    PUT_BEING_EVICTED = 15,
    DELETE_HIT = 16,
    DELETE_CASE1 = 17,
    DELETE_UNCACHED = 18,
    DELETE_INVALID = 19,
    DELETE_BEING_EVICTED = 20,
    LARGE_PUT_UNCACHED = 21,
    LARGE_PUT_INVALID = 22,
    LARGE_PUT_CACHED = 23,
    LARGE_PUT_BEING_EVICTED = 24,
    FILL_TAKEN = 25,          // NetCache: a value update
    FILL_REFUSED = 26,
    CONTROL = 27,             // control frames answered
    PUT_CACHED = 28,          // NetCache: through to the server
    DELETE_CACHED = 29
}

const bit<8> WITH_CASE3 = 32;

#endif
