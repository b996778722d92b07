// The number of a write: the next one of its key's cell of `seq`, 1 to 2^30 - 1. Beyond that a number has bit 30 set; such a write is dropped, since
// nothing could tell it from an older one.
#ifndef SHARED_CACHE_NUMBERS_P4
#define SHARED_CACHE_NUMBERS_P4

#define NUMBERS_END 0x40000000

control Numbers(inout egress_headers_t hdr, inout egress_metadata_t md) {
    Register<bit<32>, bit<16>>(SLOTS, 0) cells;
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) next_number = {
        void apply(inout bit<32> number, out bit<32> rv) {
            if (number < NUMBERS_END) {
                number = number + 1;
            }
            rv = number;
        }
    };

    action next() {
        md.number = next_number.execute(hdr.bridge.key_hash);
    }

    action from_packet() {
        md.number = hdr.seq.number;
    }

    table seq {
        key = {
            hdr.bridge.operation: exact @name("operation");
        }
        actions = {
            next;
            from_packet;
            @defaultonly NoAction;
        }
        const entries = {
            operation_t.PUT: next();
            operation_t.DELETE: next();
            operation_t.LARGE_PUT: next();
            operation_t.FILL: from_packet();
            operation_t.FILL_DELETED: from_packet();
            operation_t.UPDATE: from_packet();
            operation_t.ADMIT: from_packet();
        }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        seq.apply();
    }
}

#endif
