// Counts what becomes of packets, and ends those that go no further.
#ifndef NETCLONE_OUTCOMES_P4
#define NETCLONE_OUTCOMES_P4

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
            md.verdict: ternary @name("verdict");
            md.kind: ternary @name("kind");
            md.first_load: ternary @name("first_load");
            md.both_idle: ternary @name("both_idle");
            md.racksched: ternary @name("racksched");
            md.second_is_shorter: ternary @name("second_is_shorter");
            md.filter: ternary @name("filter");
            md.filter_table: ternary @name("filter_table");
            md.slot: ternary @name("slot");
        }
        actions = {
            pass;
            drop;
        }
        const entries = {
            // verdict, kind, first_load, both_idle, racksched, second_is_shorter, filter, filter_table, slot
            (verdict_t.NOT_IPV4, _, _, _, _, _, _, _, _): drop(outcome_t.NOT_IPV4);
            (verdict_t.MALFORMED, _, _, _, _, _, _, _, _): drop(outcome_t.MALFORMED);
            (verdict_t.NO_ROUTE, _, _, _, _, _, _, _, _): drop(outcome_t.NO_ROUTE);
            (verdict_t.UNKNOWN_OPERATION, _, _, _, _, _, _, _, _): drop(outcome_t.UNKNOWN_OPERATION);
            (verdict_t.UNKNOWN_GROUP, _, _, _, _, _, _, _, _): drop(outcome_t.UNKNOWN_GROUP);
            (verdict_t.FORGED, _, _, _, _, _, _, _, _): drop(outcome_t.FORGED);

            (_, kind_t.REQUEST, _, 1, _, _, _, _, _): pass(outcome_t.CLONED);
            (_, kind_t.REQUEST, 0, _, _, _, _, _, _): pass(outcome_t.SECOND_BUSY);
            (_, kind_t.REQUEST, _, _, 0, _, _, _, _): pass(outcome_t.FIRST_BUSY);
            (_, kind_t.REQUEST, _, _, _, 1, _, _, _): pass(outcome_t.TO_SECOND);
            (_, kind_t.REQUEST, _, _, _, _, _, _, _): pass(outcome_t.TO_FIRST);

            (_, kind_t.CLONE, _, _, _, _, _, _, _): pass(outcome_t.CAME_ROUND);

            (_, kind_t.RESPONSE, _, _, _, _, _, table_t.NONE, _): pass(outcome_t.ONLY_RESPONSE);
            (_, kind_t.RESPONSE, _, _, _, _, _, table_t.UNKNOWN, _): drop(outcome_t.UNKNOWN_TABLE);
            (_, kind_t.RESPONSE, _, _, _, _, 0, _, _): pass(outcome_t.UNFILTERED);
            (_, kind_t.RESPONSE, _, _, _, _, _, _, slot_t.EMPTY): pass(outcome_t.FASTER);
            (_, kind_t.RESPONSE, _, _, _, _, _, _, slot_t.ANOTHERS): pass(outcome_t.FASTER_OVERWROTE);
            (_, kind_t.RESPONSE, _, _, _, _, _, _, slot_t.ITS_OWN): drop(outcome_t.SLOWER);
        }
        const default_action = pass(outcome_t.OTHER);
        size = 32;
    }

    apply {
        outcomes.apply();
    }
}

#endif
