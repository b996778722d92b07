// NetClone's header, and what the blocks tell each other about a packet.
#ifndef NETCLONE_HEADERS_P4
#define NETCLONE_HEADERS_P4

// UDP ports of NetClone's servers: 1000 to 1015. Requests go to such a port, responses come from one.
#define NETCLONE_PORTS_LOW 16w1000 &&& 16w0xFFF8
#define NETCLONE_PORTS_HIGH 16w1008 &&& 16w0xFFF8

// The first 28 bytes of the payload (NetClone reference §2); what follows them is between clients and servers.
header netclone_h {
    bit<32> op;
    bit<32> seq;
    bit<32> grp;
    bit<32> sid;
    bit<32> load;
    bit<32> clo;
    bit<32> tidx;
}

const bit<32> OP_REQUEST = 0;
const bit<32> OP_RESPONSE = 1;

const bit<32> NOT_CLONED = 0;
const bit<32> ORIGINAL = 1;
const bit<32> CLONE = 2;

typedef bit<8> server_t;

enum bit<8> kind_t {
    NONE = 0,
    REQUEST = 1,
    CLONE = 2,     // a request that has come round
    RESPONSE = 3
}

// What became of a packet. The parser starts with NOT_IPV4 (all metadata is 0) or UNROUTED; blocks move it on.
enum bit<8> verdict_t {
    NOT_IPV4 = 0,
    UNROUTED = 1,
    FORWARDED = 2,
    NO_ROUTE = 3,
    MALFORMED = 4,
    UNKNOWN_OPERATION = 5,
    UNKNOWN_GROUP = 6,
    FORGED = 7
}

// Which filter table a response names.
enum bit<8> table_t {
    NONE = 0,      // it answers a request that was not cloned
    FIRST = 1,
    SECOND = 2,
    UNKNOWN = 3
}

// What a response finds at the place of its fingerprint.
enum bit<8> slot_t {
    EMPTY = 0,
    ITS_OWN = 1,
    ANOTHERS = 2
}

struct ingress_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    netclone_h netclone;
}

struct ingress_metadata_t {
    verdict_t verdict;
    kind_t kind;
    bit<1> racksched;
    bit<1> filter;
    table_t filter_table;
    bit<8> slot;                // slot_t
    server_t first;             // of the group; the server that a clone goes to, or that a response is from
    server_t second;
    bit<32> first_load;
    bit<1> both_idle;
    bit<1> second_is_shorter;
    bool rewritten;             // addresses will change: the IPv4 checksum must follow
}

#endif
