// As NoCache's parser; of key-value packets also what their length can be checked with, and the first header of control frames.
#ifndef SHARED_CACHE_INGRESS_PARSER_P4
#define SHARED_CACHE_INGRESS_PARSER_P4

parser SwitchIngressParser(
        packet_in pkt,
        out ingress_headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition open_bridge;
    }

    // Blocks of ingress fill the bridge before it is known whether the packet has an operation; Bridge takes it away from those without.
    state open_bridge {
        hdr.bridge.setValid();
        hdr.bridge.kind = kind_t.KEY_VALUE;
        hdr.bridge.operation = operation_t.NONE;
        hdr.bridge.is_cached = 0;
        hdr.bridge.is_sampled = 0;
        hdr.bridge.in_snapshot = 0;
        hdr.bridge.session = 0;
        hdr.bridge.slot = 0;
        hdr.bridge.key_hash = 0;
        hdr.bridge.hot_threshold = 0;
        hdr.bridge.token = 0;
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_CONTROL: parse_control;
            default: accept;
        }
    }

    state parse_control {
        pkt.extract(hdr.command);
        transition accept;
    }

#include "../key_value_states.p4"

    state parse_after_op {
        pkt.extract(hdr.request);
        transition select(hdr.op.optype) {
            optype_t.PUTREQ: parse_vallen;
            optype_t.GETRES_LATEST_SEQ: parse_vallen;
            optype_t.GETRES_DELETED_SEQ: parse_vallen;
            optype_t.VALUEUPDATE: parse_vallen;
            optype_t.PUTREQ_LARGEVALUE: parse_fraginfo;
            default: accept;
        }
    }

    state parse_vallen {
        pkt.extract(hdr.vallen);
        transition accept;
    }

    state parse_fraginfo {
        pkt.extract(hdr.fraginfo);
        transition accept;
    }
}

#endif
