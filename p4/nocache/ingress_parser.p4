// Ethernet, IPv4 without options, UDP, and the `op` header of key-value packets; all that follows is payload.
#ifndef NOCACHE_INGRESS_PARSER_P4
#define NOCACHE_INGRESS_PARSER_P4

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

#include "../shared/key_value_states.p4"

    state parse_after_op {
        transition accept;
    }
}

#endif
