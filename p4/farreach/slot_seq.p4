// State and number of a slot's record in one cell, so that one stateful ALU decides (docs/kvcache.md §2):
//
//    00 number   LATEST: the newest record of its key
//    10 any      ADMITTED: no record; the key's server has the newest
//    11 number   SUPERSEDED: a record, and a write went to the server since; number 0: no record
//
// A fill brings back the cell that its GETREQ_NLATEST saw. It is taken if that is still the cell: then no write of this key has passed since, and the
// slot has not been admitted anew.
#ifndef FARREACH_SLOT_SEQ_P4
#define FARREACH_SLOT_SEQ_P4

const int<32> SUPERSEDED = -0x40000000;  // 0xC0000000 with number 0

// Slices of cells: bits 31..30.
const bit<2> STATE_LATEST = 0;
const bit<2> STATE_ADMITTED = 2;
const bit<2> STATE_SUPERSEDED = 3;

control SlotSeq(inout egress_headers_t hdr, inout egress_metadata_t md) {
    Register<int<32>, bit<16>>(SLOTS, 0) cells;
    RegisterAction<int<32>, bit<16>, bit<32>>(cells) read_cell = {
        void apply(inout int<32> cell, out bit<32> rv) {
            rv = (bit<32>) cell;
        }
    };
    RegisterAction<int<32>, bit<16>, bit<32>>(cells) exchange_cell = {
        void apply(inout int<32> cell, out bit<32> rv) {
            rv = (bit<32>) cell;
            cell = (int<32>) md.number;
        }
    };
    RegisterAction<int<32>, bit<16>, bit<32>>(cells) supersede_cell = {
        void apply(inout int<32> cell, out bit<32> rv) {
            rv = (bit<32>) cell;
            if (cell < SUPERSEDED) {  // ADMITTED: there is no record
                cell = SUPERSEDED;
            } else {
                cell = cell | SUPERSEDED;
            }
        }
    };
    RegisterAction<int<32>, bit<16>, bit<32>>(cells) fill_cell = {
        void apply(inout int<32> cell, out bit<32> rv) {
            rv = 0;
            if (cell == (int<32>) hdr.seq.token) {
                cell = (int<32>) md.number;
                rv = 1;
            }
        }
    };

    action read() {
        md.cell = read_cell.execute(hdr.bridge.slot);
    }

    action exchange() {
        md.cell = exchange_cell.execute(hdr.bridge.slot);
    }

    action supersede() {
        md.cell = supersede_cell.execute(hdr.bridge.slot);
    }

    action fill() {
        md.taken = fill_cell.execute(hdr.bridge.slot);
    }

    table slot_seq {
        key = {
            hdr.bridge.operation: exact @name("operation");
            md.valid: ternary @name("valid");
            md.number[30:30]: ternary @name("used_up");
            hdr.seq.token[31:30]: ternary @name("asked_in_state");
        }
        actions = {
            read;
            exchange;
            supersede;
            fill;
            @defaultonly NoAction;
        }
        const entries = {
            (operation_t.GET, _, _, _): read();
            (operation_t.PUT, 1, 0, _): exchange();
            (operation_t.PUT, 3, 0, _): supersede();
            (operation_t.DELETE, 1, 0, _): exchange();
            (operation_t.DELETE, 3, 0, _): supersede();
            (operation_t.LARGE_PUT, 1, 0, _): supersede();
            (operation_t.LARGE_PUT, 3, 0, _): supersede();
            (operation_t.FILL, 1, _, STATE_ADMITTED): fill();
            (operation_t.FILL_DELETED, 1, _, STATE_ADMITTED): fill();
            (operation_t.ADMIT, _, _, _): exchange();
            (operation_t.LOAD, _, _, _): read();
        }
        const default_action = NoAction();
        size = 16;
    }

    apply {
        slot_seq.apply();
    }
}

#endif
