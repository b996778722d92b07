// What becomes of packets, by number: cells of the counter `outcome`. Every packet counts in one cell.
#ifndef NETCLONE_OUTCOME_NUMBERS_P4
#define NETCLONE_OUTCOME_NUMBERS_P4

enum bit<8> outcome_t {
    OTHER = 0,               // no packet of NetClone's: forwarded
    NOT_IPV4 = 1,            // dropped, and so are those up to UNKNOWN_GROUP
    MALFORMED = 2,           // a header that is cut off, UDP whose ports cannot be read or whose length leaves no room for NetClone's header
    NO_ROUTE = 3,
    UNKNOWN_OPERATION = 4,   // no request to a port of NetClone's, and no response from one
    UNKNOWN_GROUP = 5,
    CLONED = 6,              // requests from here ...
    FIRST_BUSY = 7,
    SECOND_BUSY = 8,
    TO_FIRST = 9,            // RackSched: both are busy, the second not less than the first
    TO_SECOND = 10,          // ... and the second less than the first
    CAME_ROUND = 11,         // clones on their way from recirculation to the second server
    ONLY_RESPONSE = 12,      // to a request that was not cloned
    FASTER = 13,             // the first response of a cloned request
    FASTER_OVERWROTE = 14,   // ... whose fingerprint has taken another's place: the other's slower response will pass as well
    SLOWER = 15,             // dropped by the filter
    UNFILTERED = 16,         // to a cloned request, with the filter off
    UNKNOWN_TABLE = 17,      // to a cloned request that names no filter table: dropped
    FORGED = 18              // a response from a port at which there is no such server: dropped
}

#endif
