// Addresses a request to its server. Choosing the server and finding its addresses is one step, so that no stage is needed between: a server has an entry
// as the first of a pair, as the second, and as the first when there will be a clone.
#ifndef NETCLONE_DESTINATION_P4
#define NETCLONE_DESTINATION_P4

control Destination(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) packets;

    action rewrite(mac_addr_t mac, ipv4_addr_t ip, udp_port_t udp_port) {
        hdr.ethernet.dst_addr = mac;
        hdr.ipv4.dst_addr = ip;
        hdr.udp.dst_port = udp_port;
        hdr.udp.checksum = 0;
    }

    action send(PortId_t port, mac_addr_t mac, ipv4_addr_t ip, udp_port_t udp_port) {
        packets.count();
        rewrite(mac, ip, udp_port);
        ig_tm_md.ucast_egress_port = port;
    }

    // One copy goes to the first server's port, the other comes round. Copies do not bypass egress, though it has nothing to do.
    action clone(mac_addr_t mac, ipv4_addr_t ip, udp_port_t udp_port) {
        packets.count();
        rewrite(mac, ip, udp_port);
        hdr.netclone.clo = ORIGINAL;
        hdr.netclone.sid = 24w0 ++ md.second;
        ig_tm_md.bypass_egress = 0;
        ig_tm_md.mcast_grp_a = hdr.netclone.grp[15:0];
    }

    // It has no port, so it ends here.
    action unknown_server() {
        packets.count();
    }

    table destination {
        key = {
            md.both_idle: exact @name("both_idle");
            md.second_is_shorter: exact @name("second_is_shorter");
            md.first: ternary @name("first");
            md.second: ternary @name("second");
        }
        actions = {
            send;
            clone;
            unknown_server;
        }
        const default_action = unknown_server();
        counters = packets;
        size = DESTINATION_ENTRIES;
    }

    apply {
        destination.apply();
    }
}

#endif
