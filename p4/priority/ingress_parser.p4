// Ethernet and IPv4. What follows is not looked at: options, fragments and any protocol pass, each packet in the queue of its own DSCP.
#ifndef PRIORITY_INGRESS_PARSER_P4
#define PRIORITY_INGRESS_PARSER_P4

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

    // Each path assigns the verdict once: Tofino's parser would OR a second value into the first.
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5 .. 15): parse_good_ipv4;
            default: parse_bad_ipv4;
        }
    }

    state parse_good_ipv4 {
        md.verdict = verdict_t.UNROUTED;
        transition accept;
    }

    // Another version, or a header shorter than the one that was read.
    state parse_bad_ipv4 {
        md.verdict = verdict_t.MALFORMED;
        transition accept;
    }
}

#endif
