// IPv4 packets to the port and the MAC address of their destination.
#ifndef SHARED_FORWARDING_P4
#define SHARED_FORWARDING_P4

control Forwarding(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action forward(PortId_t port, mac_addr_t mac) {
        hdr.ethernet.dst_addr = mac;
        ig_tm_md.ucast_egress_port = port;
        md.verdict = verdict_t.FORWARDED;
    }

    action no_route() {
        md.verdict = verdict_t.NO_ROUTE;
    }

    table ipv4_lpm {
        key = {
            hdr.ipv4.dst_addr: lpm @name("dst_addr");
        }
        actions = {
            forward;
            @defaultonly no_route;
        }
        const default_action = no_route();
        size = IPV4_LPM_ENTRIES;
    }

    apply {
        ipv4_lpm.apply();
    }
}

#endif
