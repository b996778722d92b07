// States of an ingress parser: IPv4 without options, UDP, and the `op` header of key-value packets. Included inside a parser, which adds
// `parse_after_op`.
//
// The UDP ports of a fragment after the first, and of a packet with IPv4 options, cannot be read here. It could be anything for a server, so it is
// dropped; no key-value packet is sent like that.
//
// Each path assigns the verdict once: Tofino's parser would OR a second value into the first.
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (IPV4_IHL_WITHOUT_OPTIONS, 0, IP_PROTOCOL_UDP): parse_udp;
            (_, _, IP_PROTOCOL_UDP): parse_unreadable_udp;
            default: parse_other_ipv4;
        }
    }

    state parse_other_ipv4 {
        md.verdict = verdict_t.UNROUTED;
        transition accept;
    }

    state parse_unreadable_udp {
        md.verdict = verdict_t.MALFORMED;
        transition accept;
    }

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
