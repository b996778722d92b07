// Puts the headers back in order. No field that the IPv4 checksum covers has changed.
#ifndef PRIORITY_INGRESS_DEPARSER_P4
#define PRIORITY_INGRESS_DEPARSER_P4

control SwitchIngressDeparser(
        packet_out pkt,
        inout ingress_headers_t hdr,
        in ingress_metadata_t md) {
    apply {
        pkt.emit(hdr);
    }
}

#endif
