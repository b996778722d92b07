// Turns a packet round to its client. Clients know no server but the first, so that is where an answer comes from: data of the default action.
#ifndef SHARED_CACHE_ANSWER_SOURCE_P4
#define SHARED_CACHE_ANSWER_SOURCE_P4

control AnswerSource(inout egress_headers_t hdr) {
    action from_first_server(mac_addr_t mac, ipv4_addr_t ip, udp_port_t udp_port) {
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
        hdr.ipv4.dst_addr = hdr.ipv4.src_addr;
        hdr.udp.dst_port = hdr.udp.src_port;
        hdr.ethernet.src_addr = mac;
        hdr.ipv4.src_addr = ip;
        hdr.udp.src_port = udp_port;
        hdr.udp.checksum = 0;
    }

    table answer_source {
        actions = {
            from_first_server;
        }
        default_action = from_first_server(0, 0, 0);
        size = 1;
    }

    apply {
        answer_source.apply();
    }
}

#endif
