// Packets and bytes handed to each queue of each port. What a full queue refuses is among them; the traffic manager counts it.
//
// Tofino takes no two fields put together as an index, but the result of a hash: this one leaves its input as it is.
#ifndef PRIORITY_QUEUE_COUNTER_P4
#define PRIORITY_QUEUE_COUNTER_P4

control QueueCounter(in ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Hash<bit<12>>(HashAlgorithm_t.IDENTITY) cell_of;
    Counter<bit<64>, bit<12>>(QUEUE_CELLS, CounterType_t.PACKETS_AND_BYTES) packets;

    apply {
        bit<12> cell = cell_of.get({ig_tm_md.ucast_egress_port, ig_tm_md.qid[2:0]});
        packets.count(cell);
    }
}

#endif
