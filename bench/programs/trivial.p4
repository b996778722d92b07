// The least a P4 switch does: one exact table from the destination address to a port. turntable_bench/bmv2_json.py has the same for BMv2.
#include <core.p4>
#include <tna.p4>

#include "../../p4/shared/no_egress.p4"
#include "headers.p4"

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
        pkt.extract(hdr.ethernet);
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

    table destination {
        key = {
            hdr.ethernet.dst_addr: exact @name("dst_addr");
        }
        actions = {
            forward;
            @defaultonly drop;
        }
        const default_action = drop();
        size = 1024;
    }

    apply {
        destination.apply();
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
