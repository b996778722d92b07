// What a packet does to the length and the value of its slot.
#ifndef FARREACH_ACCESS_P4
#define FARREACH_ACCESS_P4

control Access(in egress_headers_t hdr, inout egress_metadata_t md) {
    action reads() {
        md.access = access_t.READ;
    }

    action stores(access_t access) {
        md.access = access;
        md.vallen = hdr.vallen.vallen;
    }

    action deletes(access_t access) {
        md.access = access;
        md.vallen = DELETED;
    }

    table access {
        key = {
            hdr.bridge.operation: exact @name("operation");
            md.valid: ternary @name("valid");
            md.number[30:30]: ternary @name("used_up");
            md.taken[0:0]: ternary @name("taken");
        }
        actions = {
            reads;
            stores;
            deletes;
            @defaultonly NoAction;
        }
        const entries = {
            (operation_t.GET, 1, _, _): reads();
            (operation_t.GET, 3, _, _): reads();
            (operation_t.PUT, 1, 0, _): stores(access_t.EXCHANGE);
            (operation_t.DELETE, 1, 0, _): deletes(access_t.EXCHANGE_DELETED);
            (operation_t.FILL, _, _, 1): stores(access_t.WRITE);
            (operation_t.FILL_DELETED, _, _, 1): deletes(access_t.WRITE_DELETED);
            (operation_t.ADMIT, _, _, _): stores(access_t.WRITE);
            (operation_t.LOAD, _, _, _): reads();
        }
        const default_action = NoAction();
        size = 16;
    }

    apply {
        access.apply();
    }
}

#endif
