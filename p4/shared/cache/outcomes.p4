// Counts what became of packets in egress: cell = one of these numbers, + WITH_CASE3 for a write that went to a server while a snapshot was being taken.
#ifndef SHARED_CACHE_OUTCOMES_P4
#define SHARED_CACHE_OUTCOMES_P4

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

control Outcomes(in egress_metadata_t md) {
    Counter<bit<64>, bit<8>>(OUTCOME_CELLS, CounterType_t.PACKETS) outcome;

    action count() {
        outcome.count(md.outcome);
    }

    table count_outcome {
        actions = {
            count;
        }
        const default_action = count();
        size = 1;
    }

    apply {
        count_outcome.apply();
    }
}

#endif
