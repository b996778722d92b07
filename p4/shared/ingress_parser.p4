// Ethernet, IPv4 without options, UDP, and the `op` header of key-value packets; all that follows is payload.
//
// A fragment after the first, and a header with options, count as plain IPv4: their UDP ports cannot be known here.
#ifndef SHARED_INGRESS_PARSER_P4
#define SHARED_INGRESS_PARSER_P4

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

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        md.verdict = verdict_t.UNROUTED;
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (IPV4_IHL_WITHOUT_OPTIONS, 0, IP_PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port, hdr.udp.src_port) {
            (KEY_VALUE_PORTS, _): parse_request;
            (_, KEY_VALUE_PORTS): parse_answer;
            default: accept;
        }
    }

    state parse_request {
        md.direction = direction_t.REQUEST;
        transition parse_op;
    }

    state parse_answer {
        md.direction = direction_t.ANSWER;
        transition parse_op;
    }

    state parse_op {
        pkt.extract(hdr.op);
        transition accept;
    }
}

#endif
