// The queue lengths that servers have told, twice: a packet can read a register once, and a request needs those of two servers.
#ifndef NETCLONE_LOADS_P4
#define NETCLONE_LOADS_P4

control Loads(in netclone_h netclone, inout ingress_metadata_t md) {
    Register<bit<32>, server_t>(MAX_SERVERS, 0) state_cells;
    RegisterAction<bit<32>, server_t, bit<32>>(state_cells) read_cell = {
        void apply(inout bit<32> load, out bit<32> rv) {
            rv = load;
        }
    };
    RegisterAction<bit<32>, server_t, bit<32>>(state_cells) write_cell = {
        void apply(inout bit<32> load) {
            load = netclone.load;
        }
    };

    action read_state() {
        md.first_load = read_cell.execute(md.first);
    }

    action write_state() {
        write_cell.execute(md.first);
    }

    table state {
        key = {
            md.kind: exact @name("kind");
        }
        actions = {
            read_state;
            write_state;
            @defaultonly NoAction;
        }
        const entries = {
            kind_t.REQUEST: read_state();
            kind_t.RESPONSE: write_state();
        }
        const default_action = NoAction();
        size = 2;
    }

    Register<bit<32>, server_t>(MAX_SERVERS, 0) shadow_cells;
    RegisterAction<bit<32>, server_t, bit<1>>(shadow_cells) test_idle = {
        void apply(inout bit<32> load, out bit<1> rv) {
            rv = 0;
            if (load == 0) {
                rv = 1;
            }
        }
    };
    RegisterAction<bit<32>, server_t, bit<1>>(shadow_cells) compare_with_first = {
        void apply(inout bit<32> load, out bit<1> rv) {
            rv = 0;
            if (load < md.first_load) {
                rv = 1;
            }
        }
    };
    RegisterAction<bit<32>, server_t, bit<1>>(shadow_cells) write_shadow_cell = {
        void apply(inout bit<32> load) {
            load = netclone.load;
        }
    };

    action test_second() {
        md.both_idle = test_idle.execute(md.second);
    }

    action compare_second() {
        md.second_is_shorter = compare_with_first.execute(md.second);
    }

    action write_shadow() {
        write_shadow_cell.execute(md.second);
    }

    table shadow {
        key = {
            md.kind: ternary @name("kind");
            md.first_load: ternary @name("first_load");
            md.racksched: ternary @name("racksched");
        }
        actions = {
            test_second;
            compare_second;
            write_shadow;
            @defaultonly NoAction;
        }
        const entries = {
            (kind_t.REQUEST, 0, _): test_second();
            (kind_t.REQUEST, _, 1): compare_second();
            (kind_t.RESPONSE, _, _): write_shadow();
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        state.apply();
        shadow.apply();
    }
}

#endif
