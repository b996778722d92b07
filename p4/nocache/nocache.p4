// NoCache: the baseline without a cache. Requests go to the server of their key's partition, answers come back as if from the first
// server, everything else is routed by IPv4 destination (FarReach reference §1.3, §4.1).
//
//    parser -> operation -> key_hash -> request_partition ---------------> drops -> deparser
//                                       answer_partition -> forwarding -^
//                                       (key-value)         (and other IPv4)
//
// Stages on Tofino 1: 5 of 12, as the open Tofino compiler (9.13.4) places it:
//    0   operation (exact, 12 entries), key_hash (keyless)
//    1   request_partition, answer_partition (ranges in TCAM, 128 entries each)
//    2   ipv4_lpm (TCAM, 1,024 entries)
//    3   drops (exact, 4 entries)
//    4   the condition of the checksum update
// No registers; egress is bypassed. All addresses and ports come from the control plane.
#include <core.p4>
#include <tna.p4>

#include "../shared/constants.p4"
#include "../shared/sizes.p4"
#include "../shared/headers.p4"
#include "headers.p4"
#include "ingress_parser.p4"
#include "../shared/operations.p4"
#include "../shared/server_port.p4"
#include "../shared/key_hash.p4"
#include "../shared/request_partition.p4"
#include "../shared/answer_partition.p4"
#include "../shared/forwarding.p4"
#include "../shared/drops.p4"
#include "../shared/ingress_deparser.p4"
#include "../shared/no_egress.p4"

control SwitchIngress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Operations() operations;
    ServerPort() server_port;
    KeyHash() key_hash;
    RequestPartition() request_partition;
    AnswerPartition() answer_partition;
    Forwarding() forwarding;
    Drops() drops;

    apply {
        ig_tm_md.bypass_egress = 1;
        if (hdr.op.isValid()) {
            operations.apply(hdr.op, md);
            if (md.direction == direction_t.ANSWER) {
                server_port.apply(md, ig_intr_md);
            }
            key_hash.apply(hdr.op, md);
            if (md.verdict == verdict_t.UNROUTED) {
                if (md.direction == direction_t.REQUEST) {
                    request_partition.apply(hdr, md, ig_tm_md);
                } else {
                    answer_partition.apply(hdr, md);
                }
            }
        }
        if (md.verdict == verdict_t.UNROUTED) {
            forwarding.apply(hdr, md, ig_tm_md);
        }
        drops.apply(md, ig_dprsr_md);
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
