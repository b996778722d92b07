// The length of a slot's value, or DELETED.
#ifndef SHARED_CACHE_VALLEN_P4
#define SHARED_CACHE_VALLEN_P4

control Vallen(in bridge_h bridge, inout egress_metadata_t md) {
    Register<bit<16>, bit<16>>(SLOTS, 0) cells;
    RegisterAction<bit<16>, bit<16>, bit<16>>(cells) read_cell = {
        void apply(inout bit<16> cell, out bit<16> rv) {
            rv = cell;
        }
    };
    RegisterAction<bit<16>, bit<16>, bit<16>>(cells) exchange_cell = {
        void apply(inout bit<16> cell, out bit<16> rv) {
            rv = cell;
            cell = md.vallen;
        }
    };

    action read() {
        md.vallen = read_cell.execute(bridge.slot);
    }

    action exchange() {
        md.vallen = exchange_cell.execute(bridge.slot);
    }

    table vallen {
        key = {
            md.access: exact @name("access");
        }
        actions = {
            read;
            exchange;
            @defaultonly NoAction;
        }
        const entries = {
            access_t.READ: read();
            access_t.EXCHANGE: exchange();
            access_t.EXCHANGE_DELETED: exchange();
            access_t.WRITE: exchange();
            access_t.WRITE_DELETED: exchange();
        }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        vallen.apply();
    }
}

#endif
