// Packets and bytes handed to each queue of each port. What a full queue refuses is among them; the traffic manager counts it.
#ifndef PRIORITY_QUEUE_COUNTER_P4
#define PRIORITY_QUEUE_COUNTER_P4

control QueueCounter(in ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Counter<bit<64>, bit<12>>(QUEUE_CELLS, CounterType_t.PACKETS_AND_BYTES) packets;

    apply {
        packets.count(ig_tm_md.ucast_egress_port ++ ig_tm_md.qid[2:0]);
    }
}

#endif
