// Where a packet goes, and whether a second one goes elsewhere.
#ifndef NETCLONE_INGRESS_P4
#define NETCLONE_INGRESS_P4

// UDP's and NetClone's headers are 36 bytes: a length below 32, or one of 32 to 35. (A condition of the chip compares no more than 12 bits by `<`.)
#define IS_TOO_SHORT(LEN) (LEN[15:5] == 0 || LEN[15:2] == 8)

control SwitchIngress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Settings() settings;
    Sequence() sequence;
    Group() group;
    CameRound() came_round;
    ServerPort() server_port;
    FilterTable() filter_table;
    Loads() loads;
    Filter() filter_0;
    Filter() filter_1;
    Forwarding() forwarding;
    Destination() destination;
    Outcomes() outcomes;

    apply {
        ig_tm_md.bypass_egress = 1;
        settings.apply(md);
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.verdict = verdict_t.MALFORMED;
        } else if (md.kind != kind_t.NONE && IS_TOO_SHORT(hdr.udp.len)) {
            md.verdict = verdict_t.MALFORMED;
        } else if (md.kind == kind_t.REQUEST) {
            if (ig_intr_md.ingress_port[6:2] == RECIRCULATION_PORTS) {
                came_round.apply(hdr, md);
            } else {
                sequence.apply(hdr);
                group.apply(hdr, md);
            }
        } else if (md.kind == kind_t.RESPONSE) {
            server_port.apply(hdr, md, ig_intr_md);
            filter_table.apply(hdr.netclone, md);
        }
        if (md.verdict == verdict_t.UNROUTED) {
            loads.apply(hdr.netclone, md);
            if (md.filter == 1) {
                if (md.filter_table == table_t.FIRST) {
                    filter_0.apply(hdr.netclone, md);
                } else if (md.filter_table == table_t.SECOND) {
                    filter_1.apply(hdr.netclone, md);
                }
            }
            if (md.kind == kind_t.REQUEST || md.kind == kind_t.CLONE) {
                destination.apply(hdr, md, ig_tm_md);
            } else {
                forwarding.apply(hdr, md, ig_tm_md);
            }
        }
        outcomes.apply(md, ig_dprsr_md);
    }
}

#endif
