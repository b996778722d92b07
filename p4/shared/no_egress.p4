// The egress half of programs that do everything in ingress. Their packets bypass it; TNA wants it nevertheless.
#ifndef SHARED_NO_EGRESS_P4
#define SHARED_NO_EGRESS_P4

struct no_headers_t {
}

struct no_metadata_t {
}

parser NoEgressParser(
        packet_in pkt,
        out no_headers_t hdr,
        out no_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control NoEgress(
        inout no_headers_t hdr,
        inout no_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control NoEgressDeparser(
        packet_out pkt,
        inout no_headers_t hdr,
        in no_metadata_t md) {
    apply {
    }
}

#endif
