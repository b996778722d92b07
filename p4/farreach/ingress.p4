// Where a packet goes, which slot its key has, and what egress must know of both.
#ifndef FARREACH_INGRESS_P4
#define FARREACH_INGRESS_P4

control SwitchIngress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    ControlPort() control_port;
    Operations() operations;
    PacketLengths() packet_lengths;
    ServerPort() server_port;
    KeyHash() key_hash;
    RequestPartition() request_partition;
    AnswerPartition() answer_partition;
    Forwarding() forwarding;
    CacheLookup() cache_lookup;
    ClientSession() client_session;
    Sampling() sampling;
    HotThreshold() hot_threshold;
    Snapshot() snapshot;
    Bridge() bridge;
    Drops() drops;

    apply {
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.verdict = verdict_t.MALFORMED;
        } else if (hdr.command.isValid()) {
            control_port.apply(hdr, md, ig_intr_md, ig_tm_md);
        } else if (hdr.op.isValid()) {
            operations.apply(hdr, md);
            if (md.client_addr != 0) {
                client_session.apply(hdr, md);
            }
            packet_lengths.apply(hdr, md);
            if (md.direction == direction_t.ANSWER) {
                server_port.apply(md, ig_intr_md);
            }
            key_hash.apply(hdr.op, md);
            cache_lookup.apply(hdr);
            if (md.operation == operation_t.GET || md.operation == operation_t.PUT) {
                sampling.apply(hdr, md);
            }
            hot_threshold.apply(hdr);
            snapshot.apply(hdr);
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
        bridge.apply(hdr, md, ig_intr_md, ig_tm_md);
        drops.apply(md, ig_dprsr_md);
    }
}

#endif
