// Counts what becomes of packets, and ends those that go no further.
#ifndef PRIORITY_OUTCOMES_P4
#define PRIORITY_OUTCOMES_P4

control Outcomes(in ingress_metadata_t md, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Counter<bit<64>, bit<8>>(OUTCOME_CELLS, CounterType_t.PACKETS) outcome;

    action pass(bit<8> number) {
        outcome.count(number);
    }

    action drop(bit<8> number) {
        outcome.count(number);
        ig_dprsr_md.drop_ctl = 1;
    }

    table outcomes {
        key = {
            md.verdict: exact @name("verdict");
        }
        actions = {
            pass;
            drop;
        }
        const entries = {
            verdict_t.NOT_IPV4: drop(outcome_t.NOT_IPV4);
            verdict_t.MALFORMED: drop(outcome_t.MALFORMED);
            verdict_t.NO_ROUTE: drop(outcome_t.NO_ROUTE);
        }
        const default_action = pass(outcome_t.FORWARDED);
        size = 8;
    }

    apply {
        outcomes.apply();
    }
}

#endif
