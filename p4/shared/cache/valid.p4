// Whether a slot is in use: 0 ignored, 1 normal, 3 being evicted. The control plane alone changes it.
#ifndef SHARED_CACHE_VALID_P4
#define SHARED_CACHE_VALID_P4

control Valid(in bridge_h bridge, in command_h command, inout egress_metadata_t md) {
    Register<bit<8>, bit<16>>(SLOTS, 0) cells;
    RegisterAction<bit<8>, bit<16>, bit<8>>(cells) read_cell = {
        void apply(inout bit<8> cell, out bit<8> rv) {
            rv = cell;
        }
    };
    RegisterAction<bit<8>, bit<16>, bit<8>>(cells) write_cell = {
        void apply(inout bit<8> cell, out bit<8> rv) {
            rv = cell;
            cell = command.valid;
        }
    };

    action read() {
        md.valid = read_cell.execute(bridge.slot);
    }

    action write() {
        md.valid = write_cell.execute(bridge.slot);
    }

    table valid {
        key = {
            bridge.is_cached: exact @name("is_cached");
            bridge.operation: ternary @name("operation");
        }
        actions = {
            read;
            write;
            @defaultonly NoAction;
        }
        const entries = {
            (1, operation_t.SET_VALID): write();
            (1, _): read();
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        valid.apply();
    }
}

#endif
