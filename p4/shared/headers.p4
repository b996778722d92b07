// Headers up to the key; what follows (value, seq, stat) is payload to a program that does not cache.
// Layout: docs/architecture.md §3, FarReach reference §2.1.
#ifndef TURNTABLE_HEADERS_P4
#define TURNTABLE_HEADERS_P4

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
    bit<16> length;
    bit<16> checksum;
}

// The key's words in wire order. The halves of the last word are swapped on the wire.
header op_h {
    bit<16> optype;
    bit<32> key_lolo;
    bit<32> key_lohi;
    bit<32> key_hilo;
    bit<16> key_hihilo;
    bit<16> key_hihihi;
}

// Chosen by the client and echoed: tells the answer of this transmission from a late twin's.
header request_h {
    bit<32> id;
}

#endif
