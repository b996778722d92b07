// What a packet does to the length and the value of its slot.
#ifndef FARREACH_ACCESS_P4
#define FARREACH_ACCESS_P4

control Access(inout egress_headers_t hdr, inout egress_metadata_t md) {
    action reads() {
        md.access = access_t.READ;
        VALUES_SET_VALID
    }

    action stores() {
        md.access = access_t.WRITE;
        md.vallen = hdr.vallen.vallen;
    }

    action deletes() {
        md.access = access_t.WRITE_DELETED;
        md.vallen = DELETED;
    }

    action exchanges() {
        md.access = access_t.EXCHANGE;
        md.vallen = hdr.vallen.vallen;
        VALUES_SET_VALID
    }

    action exchanges_for_delete() {
        md.access = access_t.EXCHANGE_DELETED;
        md.vallen = DELETED;
        VALUES_SET_VALID
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
            exchanges;
            exchanges_for_delete;
            @defaultonly NoAction;
        }
        const entries = {
            (operation_t.GET, 1, _, _): reads();
            (operation_t.GET, 3, _, _): reads();
            (operation_t.PUT, 1, 0, _): exchanges();
            (operation_t.DELETE, 1, 0, _): exchanges_for_delete();
            (operation_t.FILL, _, _, 1): stores();
            (operation_t.FILL_DELETED, _, _, 1): deletes();
            (operation_t.ADMIT, _, _, _): stores();
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
