// What the parser takes from a packet, and what the blocks tell each other about it.
#ifndef PRIORITY_HEADERS_P4
#define PRIORITY_HEADERS_P4

typedef bit<3> queue_t;

// What became of a packet. The parser starts with NOT_IPV4 (all metadata is 0) or UNROUTED; blocks move it on.
enum bit<8> verdict_t {
    NOT_IPV4 = 0,
    UNROUTED = 1,
    FORWARDED = 2,
    NO_ROUTE = 3,
    MALFORMED = 4
}

struct ingress_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
}

struct ingress_metadata_t {
    verdict_t verdict;
}

#endif
