// The last word on every packet: forwarded or dropped, and counted by cause.
#ifndef SHARED_VERDICTS_P4
#define SHARED_VERDICTS_P4

control Verdicts(
        in ingress_metadata_t md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) packets;

    action send() {
        packets.count();
    }

    action drop() {
        packets.count();
        ig_dprsr_md.drop_ctl = 1;
    }

    table verdict {
        key = {
            md.verdict: exact @name("verdict");
        }
        actions = {
            send;
            drop;
        }
        const entries = {
            verdict_t.FORWARDED: send();
            verdict_t.NOT_IPV4: drop();
            verdict_t.UNKNOWN_OPERATION: drop();
            verdict_t.NO_PARTITION: drop();
            verdict_t.NO_ROUTE: drop();
        }
        const default_action = drop();
        counters = packets;
        size = VERDICT_ENTRIES;
    }

    apply {
        verdict.apply();
    }
}

#endif
