// A packet behind its bridge header, or a copy behind the header that its mirror session put in front.
#ifndef NETCACHE_EGRESS_PARSER_P4
#define NETCACHE_EGRESS_PARSER_P4

parser SwitchEgressParser(
        packet_in pkt,
        out egress_headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<kind_t>()) {
            kind_t.KEY_VALUE: parse_bridge_and_key_value;
            kind_t.CONTROL: parse_bridge_and_control;
            kind_t.FINISHED: parse_copy;
            kind_t.HOT: parse_copy_and_key_value;
        }
    }

    state parse_bridge_and_key_value {
        pkt.extract(hdr.bridge);
        transition parse_key_value;
    }

    state parse_bridge_and_control {
        pkt.extract(hdr.bridge);
        transition parse_control;
    }

    state parse_copy {
        pkt.extract(hdr.copy);
        transition accept;
    }

    state parse_copy_and_key_value {
        pkt.extract(hdr.copy);
        transition parse_key_value;
    }

#include "../shared/cache/frame_states.p4"
}

#endif
