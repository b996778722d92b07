// What becomes of a packet, once its slot's state is known (docs/kvcache.md §5).
#ifndef NETCACHE_DECISIONS_P4
#define NETCACHE_DECISIONS_P4

control Decisions(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    // --- To the server ---

    action pass(bit<8> outcome) {
        md.outcome = outcome;
    }

    // On to the server; a copy becomes the report.
    action report_hot() {
        md.outcome = outcome_t.GET_HOT;
        md.copy_kind = kind_t.HOT;
        md.session = CPU_SESSION;
        eg_dprsr_md.mirror_type = MIRROR_FINISHED;
    }

    action numbered_put(optype_t optype, bit<8> outcome) {
        md.outcome = outcome;
        hdr.op.optype = optype;
        hdr.shadow.optype = optype;
        hdr.seq.setValid();
        hdr.seq.number = md.number;
        hdr.seq.token = 0;
        hdr.ipv4.total_len = hdr.ipv4.total_len + 8;
        hdr.udp.len = hdr.udp.len + 8;
    }

    action numbered(optype_t optype, bit<8> outcome) {
        md.outcome = outcome;
        hdr.op.optype = optype;
        hdr.shadow.setValid();
        hdr.shadow.optype = optype;
        hdr.seq.setValid();
        hdr.seq.number = md.number;
        hdr.seq.token = 0;
        hdr.ipv4.total_len = hdr.ipv4.total_len + 10;
        hdr.udp.len = hdr.udp.len + 10;
    }

    // Back through the port that it came from, to the server that sent it.
    action acknowledge(bit<8> outcome) {
        md.outcome = outcome;
        hdr.op.optype = optype_t.VALUEUPDATE_ACK;
        hdr.shadow.setInvalid();
        hdr.seq.setInvalid();
        hdr.stat.setInvalid();
        hdr.ipv4.total_len = 50;
        hdr.udp.len = 30;
        md.carries = carries_t.NOTHING;
        md.to_sender = 1;
    }

    // --- To the client or the agent, as a copy; the packet itself ends here ---

    action copy_to_asker(bit<8> outcome) {
        md.outcome = outcome;
        md.copy_kind = kind_t.FINISHED;
        md.session = hdr.bridge.session;
        eg_dprsr_md.mirror_type = MIRROR_FINISHED;
        eg_dprsr_md.drop_ctl = 1;
    }

    action answer_get() {
        copy_to_asker(outcome_t.GET_HIT);
        hdr.op.optype = optype_t.GETRES_SEQ;
        hdr.shadow.setValid();
        hdr.shadow.optype = optype_t.GETRES_SEQ;
        hdr.seq.setValid();
        hdr.seq.number = md.cell;
        hdr.seq.token = 0;
        hdr.stat.setValid();
        hdr.stat.node = SWITCH_NODE;
        hdr.stat.pad = 0;
        md.carries = carries_t.RECORD;
        md.to_client = 1;
    }

    action answer_control() {
        copy_to_asker(outcome_t.CONTROL);
        hdr.command.operation = hdr.command.operation | CONTROL_ANSWERED;
    }

    action answer_load() {
        copy_to_asker(outcome_t.CONTROL);
        hdr.command.operation = control_t.LOAD | CONTROL_ANSWERED;
        hdr.command.valid = md.valid;
        hdr.seq.number = md.cell;
        md.carries = carries_t.ALL;
    }

    action drop(bit<8> outcome) {
        md.outcome = outcome;
        eg_dprsr_md.drop_ctl = 1;
    }

    // The compiler would put it behind the values, and what depends on it into a thirteenth stage.
    @stage(3)
    table decision {
        key = {
            hdr.bridge.operation: exact @name("operation");
            hdr.bridge.is_cached: ternary @name("is_cached");
            md.valid: ternary @name("valid");
            md.cell[31:30]: ternary @name("state");
            md.new_0 ++ md.new_1 ++ md.new_2: ternary @name("new");
            md.taken[0:0]: ternary @name("taken");
            md.number[30:30]: ternary @name("used_up");
        }
        actions = {
            pass;
            report_hot;
            numbered_put;
            numbered;
            acknowledge;
            answer_get;
            answer_control;
            answer_load;
            drop;
        }
        const entries = {
            // operation, is_cached, valid, state, new, taken, used_up
            (operation_t.GET, 0, _, _, 0, _, _): pass(outcome_t.GET_UNCACHED);
            (operation_t.GET, 0, _, _, _, _, _): report_hot();
            (operation_t.GET, 1, 1, STATE_LATEST, _, _, _): answer_get();
            (operation_t.GET, 1, 1, _, _, _, _): pass(outcome_t.GET_SUPERSEDED);
            (operation_t.GET, 1, _, _, _, _, _): pass(outcome_t.GET_INVALID);

            (operation_t.PUT, _, _, _, _, _, 1): drop(outcome_t.NUMBERS_USED_UP);
            (operation_t.PUT, 0, _, _, _, _, _): numbered_put(optype_t.PUTREQ_SEQ, outcome_t.PUT_UNCACHED);
            (operation_t.PUT, 1, 1, _, _, _, _): numbered_put(optype_t.PUTREQ_SEQ_CACHED, outcome_t.PUT_CACHED);
            (operation_t.PUT, 1, _, _, _, _, _): numbered_put(optype_t.PUTREQ_SEQ, outcome_t.PUT_INVALID);

            (operation_t.DELETE, _, _, _, _, _, 1): drop(outcome_t.NUMBERS_USED_UP);
            (operation_t.DELETE, 0, _, _, _, _, _): numbered(optype_t.DELREQ_SEQ, outcome_t.DELETE_UNCACHED);
            (operation_t.DELETE, 1, 1, _, _, _, _): numbered(optype_t.DELREQ_SEQ_CACHED, outcome_t.DELETE_CACHED);
            (operation_t.DELETE, 1, _, _, _, _, _): numbered(optype_t.DELREQ_SEQ, outcome_t.DELETE_INVALID);

            (operation_t.LARGE_PUT, _, _, _, _, _, 1): drop(outcome_t.NUMBERS_USED_UP);
            (operation_t.LARGE_PUT, 0, _, _, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ, outcome_t.LARGE_PUT_UNCACHED);
            (operation_t.LARGE_PUT, 1, 1, _, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ_CACHED, outcome_t.LARGE_PUT_CACHED);
            (operation_t.LARGE_PUT, 1, _, _, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ, outcome_t.LARGE_PUT_INVALID);

            (operation_t.UPDATE, _, _, _, _, 1, _): acknowledge(outcome_t.FILL_TAKEN);
            (operation_t.UPDATE, _, _, _, _, 0, _): acknowledge(outcome_t.FILL_REFUSED);

            (operation_t.SET_VALID, _, _, _, _, _, _): answer_control();
            (operation_t.ADMIT, _, _, _, _, _, _): answer_control();
            (operation_t.LOAD, _, _, _, _, _, _): answer_load();
        }
        const default_action = drop(outcome_t.UNKNOWN);
        size = 32;
    }

    apply {
        decision.apply();
    }
}

#endif
