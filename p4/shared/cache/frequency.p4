// How often a slot was asked for, in sampled requests, since the control plane cleared it.
#ifndef SHARED_CACHE_FREQUENCY_P4
#define SHARED_CACHE_FREQUENCY_P4

control Frequency(inout egress_headers_t hdr) {
    Register<bit<32>, bit<16>>(SLOTS, 0) cells;
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) count_request = {
        void apply(inout bit<32> cell, out bit<32> rv) {
            cell = cell |+| 1;
            rv = cell;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) clear_cell = {
        void apply(inout bit<32> cell, out bit<32> rv) {
            rv = cell;
            cell = 0;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) read_cell = {
        void apply(inout bit<32> cell, out bit<32> rv) {
            rv = cell;
        }
    };

    action count() {
        count_request.execute(hdr.bridge.slot);
    }

    action clear() {
        hdr.command.frequency = clear_cell.execute(hdr.bridge.slot);
    }

    action read() {
        hdr.command.frequency = read_cell.execute(hdr.bridge.slot);
    }

    table frequency {
        key = {
            hdr.bridge.operation: ternary @name("operation");
            hdr.bridge.is_cached: ternary @name("is_cached");
            hdr.bridge.is_sampled: ternary @name("is_sampled");
        }
        actions = {
            count;
            clear;
            read;
            @defaultonly NoAction;
        }
        const entries = {
            (operation_t.ADMIT, _, _): clear();
            (operation_t.LOAD, _, _): read();
            (_, 1, 1): count();
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        frequency.apply();
    }
}

#endif
