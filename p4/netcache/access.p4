// What a packet does to the length and the value of its slot: servers and the agent write them, clients read them.
#ifndef NETCACHE_ACCESS_P4
#define NETCACHE_ACCESS_P4

control Access(inout egress_headers_t hdr, inout egress_metadata_t md) {
    action reads() {
        md.access = access_t.READ;
        VALUES_SET_VALID
    }

    // Only hits count in the slot's frequency.
    action misses() {
        hdr.bridge.is_sampled = 0;
    }

    action stores() {
        md.access = access_t.WRITE;
        md.vallen = hdr.vallen.vallen;
    }

    action deletes() {
        md.access = access_t.WRITE_DELETED;
        md.vallen = DELETED;
    }

    table access {
        key = {
            hdr.bridge.operation: exact @name("operation");
            md.valid: ternary @name("valid");
            md.cell[31:30]: ternary @name("state");
            md.taken[0:0]: ternary @name("taken");
            hdr.stat.stat: ternary @name("stat");
        }
        actions = {
            reads;
            misses;
            stores;
            deletes;
            @defaultonly NoAction;
        }
        const entries = {
            (operation_t.GET, 1, STATE_LATEST, _, _): reads();
            (operation_t.GET, _, _, _, _): misses();
            (operation_t.UPDATE, _, _, 1, 0): deletes();
            (operation_t.UPDATE, _, _, 1, _): stores();
            (operation_t.ADMIT, _, _, _, _): stores();
            (operation_t.LOAD, _, _, _, _): reads();
        }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        access.apply();
    }
}

#endif
