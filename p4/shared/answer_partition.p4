// Answers come from the server of their key's partition; they shall look as if the first server had sent them, the only one
// that clients know. Their way to the client is that of any IPv4 packet: see forwarding.p4.
#ifndef SHARED_ANSWER_PARTITION_P4
#define SHARED_ANSWER_PARTITION_P4

control AnswerPartition(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) packets;

    action from_first_server(mac_addr_t mac, ipv4_addr_t ip, udp_port_t udp_port) {
        packets.count();
        hdr.ethernet.src_addr = mac;
        hdr.ipv4.src_addr = ip;
        hdr.udp.src_port = udp_port;
        hdr.udp.checksum = 0;
        md.rewritten = true;
    }

    action no_partition() {
        packets.count();
        md.verdict = verdict_t.NO_PARTITION;
    }

    table answer_partition {
        key = {
            md.key_hash[14:0]: range @name("slot");
        }
        actions = {
            from_first_server;
            @defaultonly no_partition;
        }
        const default_action = no_partition();
        counters = packets;
        size = MAX_PARTITIONS;
    }

    apply {
        answer_partition.apply();
    }
}

#endif
