// One exact table of 10^6 entries with a key of 16 bytes, to measure what it takes.
#include <core.p4>
#include <tna.p4>

#include "../../p4/shared/no_egress.p4"
header key_h {
    bit<128> key;
}

struct headers_t {
    key_h key;
}

struct metadata_t {
}

parser SwitchIngressParser(
        packet_in pkt,
        out headers_t hdr,
        out metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.key);
        transition accept;
    }
}

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action forward(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table keys {
        key = {
            hdr.key.key: exact @name("key");
        }
        actions = {
            forward;
            @defaultonly drop;
        }
        const default_action = drop();
        size = 1000000;
    }

    apply {
        keys.apply();
    }
}

control SwitchIngressDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(
    SwitchIngressParser(),
    SwitchIngress(),
    SwitchIngressDeparser(),
    NoEgressParser(),
    NoEgress(),
    NoEgressDeparser()
) pipe;

Switch(pipe) main;
