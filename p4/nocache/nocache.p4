// NoCache: the switch finds the server of a key and nothing more. The baseline of FarReach (reference §4.1), also used
// for loading.
//
//   parse ─ classify ─┬─ request ─ hash ─ request_partition ──────────────┐
//                     ├─ answer ── hash ─ answer_partition ─ ipv4_lpm ────┼─ drops ─ deparse
//                     └─ plain IPv4 ──────────────────────── ipv4_lpm ────┘
//
// Everything happens in ingress; packets bypass egress. Intended stages: 0 classify and hash, 1 slot, 2 partitions,
// 3 routes, 4 drops.
#include <core.p4>
#include <tna.p4>

#include "../shared/forwarding.p4"
#include "../shared/parser.p4"
#include "../shared/partition.p4"
#include "classify.p4"

struct ingress_metadata_t {
    bit<16> slot;
    traffic_t traffic;
    drop_reason_t drop_reason;
}

parser SwitchIngressParser(
        packet_in pkt,
        out headers_t hdr,
        out ingress_metadata_t ig_md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    KvParser() kv_parser;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        ig_md.slot = 0;
        ig_md.traffic = TRAFFIC_PLAIN;
        ig_md.drop_reason = DROP_NONE;
        kv_parser.apply(pkt, hdr);
        transition accept;
    }
}

control SwitchIngress(
        inout headers_t hdr,
        inout ingress_metadata_t ig_md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Classify() classify;
    PartitionSlot() partition_slot;
    RequestPartition() request_partition;
    AnswerPartition() answer_partition;
    Ipv4Forwarding() forwarding;
    Drops() drops;

    apply {
        ig_tm_md.bypass_egress = 1;
        if (hdr.op.isValid()) {
            classify.apply(hdr.op.optype, ig_md.traffic);
            partition_slot.apply(hdr.op, ig_md.slot);
        }
        if (ig_md.traffic == TRAFFIC_REQUEST) {
            request_partition.apply(
                hdr.ethernet, hdr.ipv4, hdr.udp, ig_md.slot, ig_md.drop_reason, ig_tm_md);
        } else if (ig_md.traffic == TRAFFIC_ANSWER) {
            answer_partition.apply(hdr.ethernet, hdr.ipv4, hdr.udp, ig_md.slot, ig_md.drop_reason);
        } else if (ig_md.traffic == TRAFFIC_UNKNOWN) {
            ig_md.drop_reason = DROP_UNKNOWN_OPTYPE;
        } else if (!hdr.ipv4.isValid()) {
            ig_md.drop_reason = DROP_NOT_IPV4;
        }
        if (ig_md.traffic != TRAFFIC_REQUEST && ig_md.drop_reason == DROP_NONE) {
            forwarding.apply(hdr.ethernet, hdr.ipv4, ig_md.drop_reason, ig_tm_md);
        }
        drops.apply(ig_md.drop_reason, ig_dprsr_md);
    }
}

control SwitchIngressDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in ingress_metadata_t ig_md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        hdr.ipv4.hdr_checksum = ipv4_checksum.update({
            hdr.ipv4.version,
            hdr.ipv4.ihl,
            hdr.ipv4.diffserv,
            hdr.ipv4.total_len,
            hdr.ipv4.identification,
            hdr.ipv4.flags,
            hdr.ipv4.frag_offset,
            hdr.ipv4.ttl,
            hdr.ipv4.protocol,
            hdr.ipv4.src_addr,
            hdr.ipv4.dst_addr
        });
        pkt.emit(hdr);
    }
}

struct egress_headers_t {}

struct egress_metadata_t {}

parser SwitchEgressParser(
        packet_in pkt,
        out egress_headers_t hdr,
        out egress_metadata_t eg_md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control SwitchEgress(
        inout egress_headers_t hdr,
        inout egress_metadata_t eg_md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control SwitchEgressDeparser(
        packet_out pkt,
        inout egress_headers_t hdr,
        in egress_metadata_t eg_md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(
    SwitchIngressParser(),
    SwitchIngress(),
    SwitchIngressDeparser(),
    SwitchEgressParser(),
    SwitchEgress(),
    SwitchEgressDeparser()) pipe;

Switch(pipe) main;
