// Puts the frame together, its IPv4 checksum new, and makes the copy that the decision asked for. Headers that preceded the frame stay behind.
#ifndef SHARED_CACHE_EGRESS_DEPARSER_P4
#define SHARED_CACHE_EGRESS_DEPARSER_P4

control SwitchEgressDeparser(
        packet_out pkt,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
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
        if (eg_dprsr_md.mirror_type == MIRROR_FINISHED) {
            mirror.emit<copy_h>(md.session, {md.copy_kind});
        } else if (eg_dprsr_md.mirror_type == MIRROR_REPORT) {
            mirror.emit<report_h>(md.session, {
                hdr.report.kind,
                0,
                hdr.report.session,
                hdr.report.optype,
                hdr.report.client_addr,
                hdr.report.client_port,
                hdr.report.number
            });
        }
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.command);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.op);
        pkt.emit(hdr.request);
        pkt.emit(hdr.vallen);
        pkt.emit(hdr.value_0);
        pkt.emit(hdr.value_1);
        pkt.emit(hdr.value_2);
        pkt.emit(hdr.value_3);
        pkt.emit(hdr.value_4);
        pkt.emit(hdr.value_5);
        pkt.emit(hdr.value_6);
        pkt.emit(hdr.value_7);
        pkt.emit(hdr.value_8);
        pkt.emit(hdr.value_9);
        pkt.emit(hdr.value_10);
        pkt.emit(hdr.value_11);
        pkt.emit(hdr.value_12);
        pkt.emit(hdr.value_13);
        pkt.emit(hdr.value_14);
        pkt.emit(hdr.value_15);
        pkt.emit(hdr.shadow);
        pkt.emit(hdr.seq);
        pkt.emit(hdr.stat);
    }
}

#endif
