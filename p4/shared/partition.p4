// Which server owns a key: CRC32 over the 16 wire bytes, mod 32,768, in ranges of equal width.
//
//      hash (keyless)  ->  slot = hash & 0x7fff  ->  request_partition (range): to the partition's server
//                                                    answer_partition (range):  as if from the first server
//
// Both tables hold one range per partition and count packets and bytes, so that a run can compare the switch's
// counters with the clients'. No other block rewrites destinations. Source: FarReach reference §1.3, §5.2.
#ifndef TURNTABLE_PARTITION_P4
#define TURNTABLE_PARTITION_P4

#include "constants.p4"
#include "headers.p4"
#include "sizes.p4"

// Tofino compiles a 15-bit hash under a cast badly: take 16 bits and mask.
const bit<16> SLOT_MASK = 0x7fff;

control PartitionSlot(in op_h op, out bit<16> slot) {
    Hash<bit<16>>(HashAlgorithm_t.CRC32) crc32;

    bit<16> hash;

    // A table of its own: a hash in straight-line code is merged into one wide action that does not fit.
    action hash_key() {
        hash = crc32.get({op.key_lolo, op.key_lohi, op.key_hilo, op.key_hihilo, op.key_hihihi});
    }

    @hidden table key_hash {
        actions = { hash_key; }
        const default_action = hash_key();
        size = 1;
    }

    apply {
        key_hash.apply();
        slot = hash & SLOT_MASK;
    }
}

control RequestPartition(
        inout ethernet_h ethernet,
        inout ipv4_h ipv4,
        inout udp_h udp,
        in bit<16> slot,
        inout drop_reason_t drop_reason,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) requests;

    action to_server(PortId_t port, bit<48> mac, bit<32> ip, bit<16> udp_port) {
        ig_tm_md.ucast_egress_port = port;
        ethernet.dst_addr = mac;
        ipv4.dst_addr = ip;
        udp.dst_port = udp_port;
        udp.checksum = 0;
        requests.count();
    }

    action no_partition() {
        drop_reason = DROP_NO_PARTITION;
        requests.count();
    }

    table request_partition {
        key = { slot : range @name("slot"); }
        actions = { to_server; @defaultonly no_partition; }
        const default_action = no_partition();
        counters = requests;
        size = MAX_PARTITIONS;
    }

    apply {
        request_partition.apply();
    }
}

control AnswerPartition(
        inout ethernet_h ethernet,
        inout ipv4_h ipv4,
        inout udp_h udp,
        in bit<16> slot,
        inout drop_reason_t drop_reason) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) answers;

    action from_first_server(bit<48> mac, bit<32> ip, bit<16> udp_port) {
        ethernet.src_addr = mac;
        ipv4.src_addr = ip;
        udp.src_port = udp_port;
        udp.checksum = 0;
        answers.count();
    }

    action no_partition() {
        drop_reason = DROP_NO_PARTITION;
        answers.count();
    }

    table answer_partition {
        key = { slot : range @name("slot"); }
        actions = { from_first_server; @defaultonly no_partition; }
        const default_action = no_partition();
        counters = answers;
        size = MAX_PARTITIONS;
    }

    apply {
        answer_partition.apply();
    }
}

#endif
