// Requests to the server of their key's partition. A partition is a range of the 32,768 slots; clients address the first
// server, whatever the key. One entry, and so one counter, per partition.
#ifndef SHARED_REQUEST_PARTITION_P4
#define SHARED_REQUEST_PARTITION_P4

control RequestPartition(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) packets;

    action to_server(PortId_t port, mac_addr_t mac, ipv4_addr_t ip, udp_port_t udp_port) {
        packets.count();
        hdr.ethernet.dst_addr = mac;
        hdr.ipv4.dst_addr = ip;
        hdr.udp.dst_port = udp_port;
        hdr.udp.checksum = 0;
        ig_tm_md.ucast_egress_port = port;
        md.rewritten = true;
        md.verdict = verdict_t.FORWARDED;
    }

    action no_partition() {
        packets.count();
        md.verdict = verdict_t.NO_PARTITION;
    }

    table request_partition {
        key = {
            md.key_hash[14:0]: range @name("slot");
        }
        actions = {
            to_server;
            @defaultonly no_partition;
        }
        const default_action = no_partition();
        counters = packets;
        size = MAX_PARTITIONS;
    }

    apply {
        request_partition.apply();
    }
}

#endif
