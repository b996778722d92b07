// Sends a packet back to where it came from.
#ifndef NETCACHE_REVERSE_P4
#define NETCACHE_REVERSE_P4

control Reverse(inout egress_headers_t hdr) {
    action swap_addresses() {
        mac_addr_t mac = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
        hdr.ethernet.src_addr = mac;
        ipv4_addr_t ip = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = hdr.ipv4.src_addr;
        hdr.ipv4.src_addr = ip;
        udp_port_t port = hdr.udp.dst_port;
        hdr.udp.dst_port = hdr.udp.src_port;
        hdr.udp.src_port = port;
        hdr.udp.checksum = 0;
    }

    table reverse {
        actions = {
            swap_addresses;
        }
        const default_action = swap_addresses();
        size = 1;
    }

    apply {
        reverse.apply();
    }
}

#endif
