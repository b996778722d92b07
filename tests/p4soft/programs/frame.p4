// What the sample programs share: Ethernet, IPv4 and ports, their parser, and an egress that does nothing.
#ifndef FRAME_P4
#define FRAME_P4

#include <core.p4>
#include <tna.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;

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

// Ethernet, IPv4 without options, and UDP; METADATA is the program's metadata.
#define FRAME_PARSER(METADATA) \
    parser FrameParser(packet_in pkt, out headers_t hdr, out METADATA md, \
                       out ingress_intrinsic_metadata_t ig_intr_md) { \
        state start { \
            pkt.extract(ig_intr_md); \
            pkt.advance(PORT_METADATA_SIZE); \
            pkt.extract(hdr.ethernet); \
            transition select(hdr.ethernet.ether_type) { \
                ETHERTYPE_IPV4: parse_ipv4; \
                default: accept; \
            } \
        } \
        state parse_ipv4 { \
            pkt.extract(hdr.ipv4); \
            transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) { \
                (5, 0, 17): parse_udp; \
                default: accept; \
            } \
        } \
        state parse_udp { \
            pkt.extract(hdr.udp); \
            transition accept; \
        } \
    }

struct no_headers_t {
}

struct no_metadata_t {
}

parser NoEgressParser(packet_in pkt, out no_headers_t hdr, out no_metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control NoEgress(
        inout no_headers_t hdr,
        inout no_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control NoEgressDeparser(
        packet_out pkt,
        inout no_headers_t hdr,
        in no_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

#endif
