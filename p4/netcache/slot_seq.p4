// State and number in one cell, so that one stateful ALU decides (docs/kvcache.md §2, §5):
//
//    00 number   LATEST: the slot has the newest record
//    11 number   SUPERSEDED by the write of this number, which went to the server
//
// A value update is taken if the slot was last superseded by the very write that it brings.
#ifndef NETCACHE_SLOT_SEQ_P4
#define NETCACHE_SLOT_SEQ_P4

const int<32> SUPERSEDED = -0x40000000;  // 0xC0000000 with number 0

// Slices of cells: bits 31..30.
const bit<2> STATE_LATEST = 0;

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
    RegisterAction<int<32>, bit<16>, bit<32>>(cells) update_cell = {
        void apply(inout int<32> cell, out bit<32> rv) {
            rv = 0;
            if (cell - (int<32>) md.number == SUPERSEDED) {
                cell = (int<32>) md.number;
                rv = 1;
            }
        }
    };
    RegisterAction<int<32>, bit<16>, bit<32>>(cells) supersede_cell = {
        void apply(inout int<32> cell, out bit<32> rv) {
            rv = (bit<32>) cell;
            cell = SUPERSEDED + (int<32>) md.number;
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

    action update() {
        md.taken = update_cell.execute(hdr.bridge.slot);
    }

    table slot_seq {
        key = {
            hdr.bridge.operation: exact @name("operation");
            md.valid: ternary @name("valid");
            md.number[31:30]: ternary @name("beyond_numbers");  // 0
        }
        actions = {
            read;
            exchange;
            supersede;
            update;
            @defaultonly NoAction;
        }
        const entries = {
            (operation_t.GET, _, _): read();
            (operation_t.PUT, 1, 0): supersede();
            (operation_t.DELETE, 1, 0): supersede();
            (operation_t.LARGE_PUT, 1, 0): supersede();
            (operation_t.UPDATE, 1, 0): update();
            (operation_t.ADMIT, _, _): exchange();
            (operation_t.LOAD, _, _): read();
        }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        slot_seq.apply();
    }
}

#endif
