// States of an ingress parser: IPv4 without options, on the way to UDP. Included inside a parser, which adds `parse_udp`.
//
// The UDP ports of a fragment after the first, and of a packet with IPv4 options, cannot be read here. It could be anything for a server, so it is
// dropped; no packet that these programs serve is sent like that.
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
