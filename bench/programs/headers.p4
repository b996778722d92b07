// Ethernet, IPv4 without options, UDP: what the programs of the measurements parse.
#ifndef BENCH_HEADERS_P4
#define BENCH_HEADERS_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<4> IPV4_IHL_WITHOUT_OPTIONS = 5;
const bit<8> IP_PROTOCOL_UDP = 17;

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
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
    bit<32> src_addr;
    bit<32> dst_addr;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> len;
    bit<16> checksum;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
}

#endif
