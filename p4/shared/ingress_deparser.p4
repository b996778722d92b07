// Puts the headers back in order; a packet whose addresses changed gets a new IPv4 checksum.
#ifndef SHARED_INGRESS_DEPARSER_P4
#define SHARED_INGRESS_DEPARSER_P4

control SwitchIngressDeparser(
        packet_out pkt,
        inout ingress_headers_t hdr,
        in ingress_metadata_t md) {
    Checksum() ipv4_checksum;

    apply {
        if (md.rewritten) {
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
        }
        pkt.emit(hdr);
    }
}

#endif
