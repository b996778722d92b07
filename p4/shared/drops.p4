// Drops what no block has forwarded, and counts it by cause.
#ifndef SHARED_DROPS_P4
#define SHARED_DROPS_P4

control Drops(
        in ingress_metadata_t md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) packets;

    action drop() {
        packets.count();
        ig_dprsr_md.drop_ctl = 1;
    }

    table drops {
        key = {
            md.verdict: exact @name("verdict");
        }
        actions = {
            drop;
            @defaultonly NoAction;
        }
        const entries = {
            verdict_t.NOT_IPV4: drop();
            verdict_t.UNKNOWN_OPERATION: drop();
            verdict_t.NO_PARTITION: drop();
            verdict_t.NO_ROUTE: drop();
            verdict_t.FORGED: drop();
            verdict_t.MALFORMED: drop();
            verdict_t.NO_SESSION: drop();
        }
        const default_action = NoAction();
        counters = packets;
        size = DROP_ENTRIES;
    }

    apply {
        drops.apply();
    }
}

#endif
