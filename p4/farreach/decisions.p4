// What becomes of a packet, once its slot's state is known (docs/kvcache.md §4).
#ifndef FARREACH_DECISIONS_P4
#define FARREACH_DECISIONS_P4

control Decisions(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    // --- To the server ---

    // Without a value, even if the slot's came out.
    action pass(optype_t optype, bit<8> outcome) {
        md.outcome = outcome;
        hdr.op.optype = optype;
        md.carries = carries_t.NOTHING;
    }

    // The answer will bring the cell back.
    action ask_for_fill() {
        pass(optype_t.GETREQ_NLATEST, outcome_t.GET_ADMITTED);
        hdr.shadow.setValid();
        hdr.shadow.optype = optype_t.GETREQ_NLATEST;
        hdr.seq.setValid();
        hdr.seq.number = 0;
        hdr.seq.token = md.cell;
        hdr.ipv4.total_len = hdr.ipv4.total_len + 10;
        hdr.udp.len = hdr.udp.len + 10;
    }

    action record_of_slot(optype_t optype, bit<8> outcome) {
        pass(optype, outcome);
        hdr.shadow.setValid();
        hdr.shadow.optype = optype;
        hdr.seq.setValid();
        hdr.seq.number = 2w0 ++ md.cell[29:0];
        hdr.stat.setValid();
        hdr.stat.node = SWITCH_NODE;
        hdr.stat.pad = 0;
        md.carries = carries_t.RECORD;
    }

    // The server stores the record if it is newer than its own: a snapshot under way must know of it as of a write.
    action with_record(optype_t optype, bit<8> outcome) {
        record_of_slot(optype, outcome);
        hdr.seq.token = hdr.bridge.token;
    }

    // With the value that it brought.
    action numbered_put(optype_t optype, bit<8> outcome) {
        md.outcome = outcome;
        hdr.op.optype = optype;
        hdr.shadow.optype = optype;
        hdr.seq.setValid();
        hdr.seq.number = md.number;
        hdr.seq.token = hdr.bridge.token;
        hdr.ipv4.total_len = hdr.ipv4.total_len + 8;
        hdr.udp.len = hdr.udp.len + 8;
    }

    action numbered(optype_t optype, bit<8> outcome) {
        pass(optype, outcome);
        hdr.shadow.setValid();
        hdr.shadow.optype = optype;
        hdr.seq.setValid();
        hdr.seq.number = md.number;
        hdr.seq.token = hdr.bridge.token;
        hdr.ipv4.total_len = hdr.ipv4.total_len + 10;
        hdr.udp.len = hdr.udp.len + 10;
    }

    // --- To the client, as a copy; the request itself ends here ---

    action copy_to_client(bit<8> outcome) {
        md.outcome = outcome;
        md.copy_kind = kind_t.FINISHED;
        md.session = hdr.bridge.session;
        eg_dprsr_md.mirror_type = MIRROR_FINISHED;
        eg_dprsr_md.drop_ctl = 1;
    }

    action answer_get() {
        record_of_slot(optype_t.GETRES_SEQ, outcome_t.GET_HIT);
        hdr.seq.token = 0;
        copy_to_client(outcome_t.GET_HIT);
        md.to_client = 1;
    }

    action answer_write(optype_t optype, bit<8> outcome) {
        hdr.op.optype = optype;
        hdr.shadow.setValid();
        hdr.shadow.optype = optype;
        hdr.seq.setValid();
        hdr.seq.number = md.number;
        hdr.seq.token = 0;
        hdr.stat.setValid();
        hdr.stat.stat = 1;
        hdr.stat.node = SWITCH_NODE;
        hdr.stat.pad = 0;
        hdr.ipv4.total_len = 64;
        hdr.udp.len = 44;
        md.carries = carries_t.NOTHING;
        md.to_client = 1;
        copy_to_client(outcome);
    }

    action answer_fill(bit<8> outcome) {
        hdr.op.optype = optype_t.GETRES_SEQ;
        hdr.shadow.optype = optype_t.GETRES_SEQ;
        hdr.seq.token = 0;
        copy_to_client(outcome);
    }

    // --- To the agent ---

    // A control frame with the old record, in front of it what the answer to the write will need.
    action report_case1(optype_t optype, bit<8> outcome) {
        md.outcome = outcome;
        hdr.report.setValid();  // for the mirror; the frame itself ends here
        hdr.report.kind = kind_t.REPORT;
        hdr.report.session = hdr.bridge.session;
        hdr.report.optype = optype;
        hdr.report.client_addr = hdr.ipv4.src_addr;
        hdr.report.client_port = hdr.udp.src_port;
        hdr.report.number = md.number;
        hdr.ethernet.ether_type = ETHERTYPE_CONTROL;
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.command.setValid();
        hdr.command.operation = control_t.CASE1;
        hdr.command.valid = md.valid;
        hdr.command.egress_port = 7w0 ++ eg_intr_md.egress_port;
        hdr.command.slot = hdr.bridge.slot;
        hdr.command.frequency = 0;
        hdr.op.optype = 0;
        hdr.shadow.setInvalid();
        hdr.seq.setValid();
        hdr.seq.number = md.cell;
        hdr.seq.token = hdr.bridge.token;
        md.carries = carries_t.ALL;
        md.session = CPU_SESSION;
        eg_dprsr_md.mirror_type = MIRROR_REPORT;
        eg_dprsr_md.drop_ctl = 1;
    }

    action answer_control() {
        hdr.command.operation = hdr.command.operation | CONTROL_ANSWERED;
        copy_to_client(outcome_t.CONTROL);
    }

    action answer_load() {
        hdr.command.operation = control_t.LOAD | CONTROL_ANSWERED;
        hdr.command.valid = md.valid;
        hdr.seq.number = md.cell;
        md.carries = carries_t.ALL;
        copy_to_client(outcome_t.CONTROL);
    }

    action drop(bit<8> outcome) {
        md.outcome = outcome;
        eg_dprsr_md.drop_ctl = 1;
    }

    table decision {
        key = {
            hdr.bridge.operation: exact @name("operation");
            hdr.bridge.is_cached: ternary @name("is_cached");
            md.valid: ternary @name("valid");
            md.cell[31:30]: ternary @name("state");
            md.hot_0 ++ md.hot_1 ++ md.hot_2 ++ md.hot_3: ternary @name("hot");
            hdr.bridge.in_snapshot: ternary @name("in_snapshot");
            md.is_first: ternary @name("is_first");
            md.taken[0:0]: ternary @name("taken");
            md.number[30:30]: ternary @name("used_up");
        }
        actions = {
            pass;
            ask_for_fill;
            with_record;
            numbered_put;
            numbered;
            answer_get;
            answer_write;
            answer_fill;
            report_case1;
            answer_control;
            answer_load;
            drop;
        }
        const entries = {
            // operation, is_cached, valid, state, hot, in_snapshot, is_first, taken, used_up
            (operation_t.GET, 0, _, _, 15, _, _, _, _): pass(optype_t.GETREQ_POP, outcome_t.GET_HOT);
            (operation_t.GET, 0, _, _, _, _, _, _, _): pass(optype_t.GETREQ, outcome_t.GET_UNCACHED);
            (operation_t.GET, 1, 1, STATE_LATEST, _, _, _, _, _): answer_get();
            (operation_t.GET, 1, 1, STATE_ADMITTED, _, _, _, _, _): ask_for_fill();
            (operation_t.GET, 1, 1, STATE_SUPERSEDED, _, _, _, _, _):
                with_record(optype_t.GETREQ_LARGEVALUEBLOCK_RECORD, outcome_t.GET_SUPERSEDED);
            (operation_t.GET, 1, 3, STATE_LATEST, _, _, _, _, _): answer_get();
            (operation_t.GET, 1, 3, STATE_ADMITTED, _, _, _, _, _): pass(optype_t.GETREQ, outcome_t.GET_BEING_EVICTED);
            (operation_t.GET, 1, 3, STATE_SUPERSEDED, _, _, _, _, _):
                with_record(optype_t.GETREQ_BEINGEVICTED_RECORD, outcome_t.GET_BEING_EVICTED);
            (operation_t.GET, 1, _, _, _, _, _, _, _): pass(optype_t.GETREQ, outcome_t.GET_INVALID);

            (operation_t.PUT, _, _, _, _, _, _, _, 1): drop(outcome_t.NUMBERS_USED_UP);
            (operation_t.PUT, 0, _, _, 15, 0, _, _, _): numbered_put(optype_t.PUTREQ_POP_SEQ, outcome_t.PUT_HOT);
            (operation_t.PUT, 0, _, _, 15, 1, _, _, _):
                numbered_put(optype_t.PUTREQ_POP_SEQ_CASE3, outcome_t.PUT_HOT + WITH_CASE3);
            (operation_t.PUT, 0, _, _, _, 0, _, _, _): numbered_put(optype_t.PUTREQ_SEQ, outcome_t.PUT_UNCACHED);
            (operation_t.PUT, 0, _, _, _, 1, _, _, _):
                numbered_put(optype_t.PUTREQ_SEQ_CASE3, outcome_t.PUT_UNCACHED + WITH_CASE3);
            (operation_t.PUT, 1, 1, _, _, _, 0, _, _): answer_write(optype_t.PUTRES_SEQ, outcome_t.PUT_HIT);
            (operation_t.PUT, 1, 1, _, _, _, 1, _, _): report_case1(optype_t.PUTRES_SEQ, outcome_t.PUT_CASE1);
            (operation_t.PUT, 1, 3, _, _, 0, _, _, _):
                numbered_put(optype_t.PUTREQ_SEQ_BEINGEVICTED, outcome_t.PUT_BEING_EVICTED);
            (operation_t.PUT, 1, 3, _, _, 1, _, _, _):
                numbered_put(optype_t.PUTREQ_SEQ_CASE3_BEINGEVICTED, outcome_t.PUT_BEING_EVICTED + WITH_CASE3);
            (operation_t.PUT, 1, _, _, _, 0, _, _, _): numbered_put(optype_t.PUTREQ_SEQ, outcome_t.PUT_INVALID);
            (operation_t.PUT, 1, _, _, _, 1, _, _, _):
                numbered_put(optype_t.PUTREQ_SEQ_CASE3, outcome_t.PUT_INVALID + WITH_CASE3);

            (operation_t.DELETE, _, _, _, _, _, _, _, 1): drop(outcome_t.NUMBERS_USED_UP);
            (operation_t.DELETE, 0, _, _, _, 0, _, _, _): numbered(optype_t.DELREQ_SEQ, outcome_t.DELETE_UNCACHED);
            (operation_t.DELETE, 0, _, _, _, 1, _, _, _):
                numbered(optype_t.DELREQ_SEQ_CASE3, outcome_t.DELETE_UNCACHED + WITH_CASE3);
            (operation_t.DELETE, 1, 1, _, _, _, 0, _, _): answer_write(optype_t.DELRES_SEQ, outcome_t.DELETE_HIT);
            (operation_t.DELETE, 1, 1, _, _, _, 1, _, _): report_case1(optype_t.DELRES_SEQ, outcome_t.DELETE_CASE1);
            (operation_t.DELETE, 1, 3, _, _, 0, _, _, _):
                numbered(optype_t.DELREQ_SEQ_BEINGEVICTED, outcome_t.DELETE_BEING_EVICTED);
            (operation_t.DELETE, 1, 3, _, _, 1, _, _, _):
                numbered(optype_t.DELREQ_SEQ_CASE3_BEINGEVICTED, outcome_t.DELETE_BEING_EVICTED + WITH_CASE3);
            (operation_t.DELETE, 1, _, _, _, 0, _, _, _): numbered(optype_t.DELREQ_SEQ, outcome_t.DELETE_INVALID);
            (operation_t.DELETE, 1, _, _, _, 1, _, _, _):
                numbered(optype_t.DELREQ_SEQ_CASE3, outcome_t.DELETE_INVALID + WITH_CASE3);

            (operation_t.LARGE_PUT, _, _, _, _, _, _, _, 1): drop(outcome_t.NUMBERS_USED_UP);
            (operation_t.LARGE_PUT, 0, _, _, _, 0, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ, outcome_t.LARGE_PUT_UNCACHED);
            (operation_t.LARGE_PUT, 0, _, _, _, 1, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ_CASE3, outcome_t.LARGE_PUT_UNCACHED + WITH_CASE3);
            (operation_t.LARGE_PUT, 1, 1, _, _, 0, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ, outcome_t.LARGE_PUT_CACHED);
            (operation_t.LARGE_PUT, 1, 1, _, _, 1, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ_CASE3, outcome_t.LARGE_PUT_CACHED + WITH_CASE3);
            (operation_t.LARGE_PUT, 1, 3, _, _, 0, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ_BEINGEVICTED, outcome_t.LARGE_PUT_BEING_EVICTED);
            (operation_t.LARGE_PUT, 1, 3, _, _, 1, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ_CASE3_BEINGEVICTED, outcome_t.LARGE_PUT_BEING_EVICTED + WITH_CASE3);
            (operation_t.LARGE_PUT, 1, _, _, _, 0, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ, outcome_t.LARGE_PUT_INVALID);
            (operation_t.LARGE_PUT, 1, _, _, _, 1, _, _, _):
                numbered(optype_t.PUTREQ_LARGEVALUE_SEQ_CASE3, outcome_t.LARGE_PUT_INVALID + WITH_CASE3);

            (operation_t.FILL, _, _, _, _, _, _, 1, _): answer_fill(outcome_t.FILL_TAKEN);
            (operation_t.FILL, _, _, _, _, _, _, 0, _): answer_fill(outcome_t.FILL_REFUSED);
            (operation_t.FILL_DELETED, _, _, _, _, _, _, 1, _): answer_fill(outcome_t.FILL_TAKEN);
            (operation_t.FILL_DELETED, _, _, _, _, _, _, 0, _): answer_fill(outcome_t.FILL_REFUSED);

            (operation_t.SET_VALID, _, _, _, _, _, _, _, _): answer_control();
            (operation_t.ADMIT, _, _, _, _, _, _, _, _): answer_control();
            (operation_t.LOAD, _, _, _, _, _, _, _, _): answer_load();
        }
        const default_action = drop(outcome_t.UNKNOWN);
        size = 64;
    }

    apply {
        decision.apply();
    }
}

#endif
