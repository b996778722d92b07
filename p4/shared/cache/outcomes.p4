// Counts what became of packets in egress.
#ifndef SHARED_CACHE_OUTCOMES_P4
#define SHARED_CACHE_OUTCOMES_P4

control Outcomes(in egress_metadata_t md) {
    Counter<bit<64>, bit<8>>(OUTCOME_CELLS, CounterType_t.PACKETS) outcome;

    action count() {
        outcome.count(md.outcome);
    }

    table count_outcome {
        actions = {
            count;
        }
        const default_action = count();
        size = 1;
    }

    apply {
        count_outcome.apply();
    }
}

#endif
