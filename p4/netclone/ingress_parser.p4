// Ethernet, IPv4 without options, UDP, and NetClone's header behind it; all that follows is payload.
#ifndef NETCLONE_INGRESS_PARSER_P4
#define NETCLONE_INGRESS_PARSER_P4

parser SwitchIngressParser(
        packet_in pkt,
        out ingress_headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

#include "../shared/ipv4_states.p4"

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port, hdr.udp.src_port) {
            (NETCLONE_PORTS_LOW, _): parse_to_server;
            (NETCLONE_PORTS_HIGH, _): parse_to_server;
            (_, NETCLONE_PORTS_LOW): parse_from_server;
            (_, NETCLONE_PORTS_HIGH): parse_from_server;
            default: parse_other_udp;
        }
    }

    state parse_other_udp {
        md.verdict = verdict_t.UNROUTED;
        transition accept;
    }

    state parse_to_server {
        pkt.extract(hdr.netclone);
        transition select(hdr.netclone.op) {
            OP_REQUEST: parse_request;
            default: parse_unknown_operation;
        }
    }

    state parse_from_server {
        pkt.extract(hdr.netclone);
        transition select(hdr.netclone.op) {
            OP_RESPONSE: parse_response;
            default: parse_unknown_operation;
        }
    }

    state parse_unknown_operation {
        md.verdict = verdict_t.UNKNOWN_OPERATION;
        transition accept;
    }

    state parse_request {
        md.verdict = verdict_t.UNROUTED;
        md.kind = kind_t.REQUEST;
        transition accept;
    }

    state parse_response {
        md.verdict = verdict_t.UNROUTED;
        md.kind = kind_t.RESPONSE;
        transition accept;
    }
}

#endif
