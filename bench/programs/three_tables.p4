// Three exact tables, one after the other, each hit by every packet: what is compared with DPDK's SWX pipeline, whose equivalent is
// swx/three_tables.spec.
//
//    parser -> pairs (source, destination -> class) -> routes (destination -> next hop) -> neighbors (next hop -> port, address)
#include <core.p4>
#include <tna.p4>

#include "../../p4/shared/no_egress.p4"
#include "headers.p4"

struct metadata_t {
    bit<16> next_hop;
}

#include "udp_ingress.p4"

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action classify(bit<8> diffserv) {
        hdr.ipv4.diffserv = diffserv;
    }

    action route(bit<16> next_hop) {
        md.next_hop = next_hop;
    }

    action forward(PortId_t port, bit<48> dst_addr) {
        hdr.ethernet.dst_addr = dst_addr;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table pairs {
        key = {
            hdr.ipv4.src_addr: exact @name("src_addr");
            hdr.ipv4.dst_addr: exact @name("dst_addr");
        }
        actions = {
            classify;
            @defaultonly drop;
        }
        const default_action = drop();
        size = 65536;
    }

    table routes {
        key = {
            hdr.ipv4.dst_addr: exact @name("dst_addr");
        }
        actions = {
            route;
            @defaultonly drop;
        }
        const default_action = drop();
        size = 65536;
    }

    table neighbors {
        key = {
            md.next_hop: exact @name("next_hop");
        }
        actions = {
            forward;
            @defaultonly drop;
        }
        const default_action = drop();
        size = 65536;
    }

    apply {
        pairs.apply();
        routes.apply();
        neighbors.apply();
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
