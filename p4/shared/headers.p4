// Headers that every key-value program knows, and what its blocks tell each other about a packet.
#ifndef SHARED_HEADERS_P4
#define SHARED_HEADERS_P4

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<16> udp_port_t;

header ethernet_h {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4> version;
    bit<4> ihl;
    bit<8> diffserv;
    bit<16> total_len;
    bit<16> identification;
    bit<3> flags;
    bit<13> frag_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> hdr_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

header udp_h {
    udp_port_t src_port;
    udp_port_t dst_port;
    bit<16> len;
    bit<16> checksum;
}

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
