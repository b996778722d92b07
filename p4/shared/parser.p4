// Ethernet / IPv4 / UDP / op / request. Fragments and IPv4 options are plain traffic: they have no UDP header here.
#ifndef TURNTABLE_PARSER_P4
#define TURNTABLE_PARSER_P4

#include "constants.p4"
#include "headers.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    op_h op;
    request_h request;
}

parser KvParser(packet_in pkt, out headers_t hdr) {
    state start {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4 : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, IP_PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.src_port, hdr.udp.dst_port) {
            (_, KV_PORT_BASE &&& KV_PORT_MASK) : parse_op;
            (KV_PORT_BASE &&& KV_PORT_MASK, _) : parse_op;
            default : accept;
        }
    }

    state parse_op {
        pkt.extract(hdr.op);
        pkt.extract(hdr.request);
        transition accept;
    }
}

#endif
