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
