// The registers, at the port of the key's server, and what follows from them.
#ifndef NETCACHE_EGRESS_P4
#define NETCACHE_EGRESS_P4

control SwitchEgress(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Valid() valid;
    Numbers() seq;
    Sketch() sketch;
    SlotSeq() slot_seq;
    BloomFilter() bloom_filter;
    Access() access;
    Frequency() frequency;
    Vallen() vallen;
    Values() values;
    Decisions() decisions;
    HotReport() hot_report;
    ValueHeaders() value_headers;
    AnswerSource() answer_source;
    Reverse() reverse;
    Outcomes() outcomes;

    action malformed() {
        md.outcome = outcome_t.MALFORMED;
        eg_dprsr_md.drop_ctl = 1;
    }

    apply {
        if (hdr.bridge.isValid()) {
            if (eg_prsr_md.parser_err == PARSER_ERROR_OK) {
                valid.apply(hdr.bridge, hdr.command, md);
                seq.apply(hdr, md);
                if (hdr.bridge.is_cached == 0 && hdr.bridge.is_sampled == 1) {
                    sketch.apply(hdr, md);
                }
                if (md.hot_0 == 1 && md.hot_1 == 1 && md.hot_2 == 1 && md.hot_3 == 1) {
                    bloom_filter.apply(hdr, md);
                }
                slot_seq.apply(hdr, md);
                access.apply(hdr, md);
                decisions.apply(hdr, md, eg_dprsr_md);
                frequency.apply(hdr);
                vallen.apply(hdr.bridge, md);
                values.apply(hdr, md);
            } else {
                malformed();
            }
            outcomes.apply(md);
        } else if (hdr.copy.isValid()) {
            hot_report.apply(hdr, md);
        }
        value_headers.apply(hdr, md);
        if (md.to_client == 1) {
            answer_source.apply(hdr);
        } else if (md.to_sender == 1) {
            reverse.apply(hdr);
        }
    }
}

#endif
