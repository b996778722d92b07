// Whether a write is the first to its slot since the snapshot's point: the slot's cell has not the snapshot's token yet. Tokens only grow, so cells
// are never cleared.
#ifndef FARREACH_CASE1_P4
#define FARREACH_CASE1_P4

control Case1(in bridge_h bridge, inout egress_metadata_t md) {
    Register<bit<32>, bit<16>>(SLOTS, 0) cells;
    RegisterAction<bit<32>, bit<16>, bit<1>>(cells) exchange_token = {
        void apply(inout bit<32> token, out bit<1> rv) {
            rv = 0;
            if (token != bridge.token) {
                rv = 1;
            }
            token = bridge.token;
        }
    };

    action mark() {
        md.is_first = exchange_token.execute(bridge.slot);
    }

    table case1 {
        key = {
            bridge.in_snapshot: exact @name("in_snapshot");
            bridge.operation: exact @name("operation");
            md.valid: exact @name("valid");
            md.number[30:30]: exact @name("used_up");
        }
        actions = {
            mark;
            @defaultonly NoAction;
        }
        const entries = {
            (1, operation_t.PUT, 1, 0): mark();
            (1, operation_t.DELETE, 1, 0): mark();
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        case1.apply();
    }
}

#endif
