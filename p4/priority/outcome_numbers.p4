// What becomes of packets, by number: cells of the counter `outcome`. Every packet counts in one cell.
#ifndef PRIORITY_OUTCOME_NUMBERS_P4
#define PRIORITY_OUTCOME_NUMBERS_P4

enum bit<8> outcome_t {
    FORWARDED = 0,
    NOT_IPV4 = 1,     // dropped, and so are all from here
    MALFORMED = 2,    // a header that is cut off, another version, or a header's length below its 20 bytes
    NO_ROUTE = 3
}

#endif
