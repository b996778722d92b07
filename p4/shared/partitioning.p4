// Key-value packets by partition: a partition is a range of the 32,768 slots.
//
// Requests were addressed to the first server; they go to the partition's own. Answers come from the partition's own; they
// shall look as if the first server had sent them. Each partition has one entry per direction, so one counter too.
#ifndef SHARED_PARTITIONING_P4
#define SHARED_PARTITIONING_P4

control Partitioning(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) packets;

    action to_server(PortId_t port, mac_addr_t dst_mac, ipv4_addr_t dst_addr, udp_port_t dst_port) {
        packets.count();
        hdr.ethernet.dst_addr = dst_mac;
        hdr.ipv4.dst_addr = dst_addr;
        hdr.udp.dst_port = dst_port;
        hdr.udp.checksum = 0;
        ig_tm_md.ucast_egress_port = port;
        md.rewritten = true;
        md.verdict = verdict_t.FORWARDED;
    }

    // The way back to the client is that of any IPv4 packet: see forwarding.p4.
    action from_server(mac_addr_t src_mac, ipv4_addr_t src_addr, udp_port_t src_port) {
        packets.count();
        hdr.ethernet.src_addr = src_mac;
        hdr.ipv4.src_addr = src_addr;
        hdr.udp.src_port = src_port;
        hdr.udp.checksum = 0;
        md.rewritten = true;
    }

    action no_partition() {
        packets.count();
        md.verdict = verdict_t.NO_PARTITION;
    }

    table partition {
        key = {
            md.direction: exact @name("direction");
            md.key_hash[14:0]: range @name("slot");
        }
        actions = {
            to_server;
            from_server;
            @defaultonly no_partition;
        }
        const default_action = no_partition();
        counters = packets;
        size = PARTITION_ENTRIES;
    }

    apply {
        partition.apply();
    }
}

#endif
