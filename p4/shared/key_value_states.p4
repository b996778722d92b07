// States of an ingress parser: IPv4, UDP, and the `op` header of key-value packets. Included inside a parser, which adds `parse_after_op`.
#include "ipv4_states.p4"

    state parse_udp {
        pkt.extract(hdr.udp);
        md.verdict = verdict_t.UNROUTED;
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
        transition parse_after_op;
    }
