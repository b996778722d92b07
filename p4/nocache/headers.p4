// What NoCache's parser takes from a packet, and what its blocks tell each other about it.
#ifndef NOCACHE_HEADERS_P4
#define NOCACHE_HEADERS_P4

struct ingress_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    op_h op;
}

struct ingress_metadata_t {
    direction_t direction;
    verdict_t verdict;
    bit<16> key_hash;
    bool rewritten;  // addresses changed: the IPv4 checksum must follow
}

#endif
