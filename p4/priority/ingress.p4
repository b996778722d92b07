// Where a packet goes, and in which queue it waits for its turn.
#ifndef PRIORITY_INGRESS_P4
#define PRIORITY_INGRESS_P4

control SwitchIngress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DscpToQueue() dscp_to_queue;
    Forwarding() forwarding;
    QueueCounter() queue_counter;
    Outcomes() outcomes;

    apply {
        ig_tm_md.bypass_egress = 1;
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.verdict = verdict_t.MALFORMED;
        } else if (md.verdict == verdict_t.UNROUTED) {
            dscp_to_queue.apply(hdr.ipv4, ig_tm_md);
            forwarding.apply(hdr, md, ig_tm_md);
        }
        if (md.verdict == verdict_t.FORWARDED) {
            queue_counter.apply(ig_tm_md);
        }
        outcomes.apply(md, ig_dprsr_md);
    }
}

#endif
