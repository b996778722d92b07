// Numbers requests, whether they are cloned or not: 1 to LAST_SEQUENCE, then 1 again. After a restart it begins with 1, so clients must tell
// duplicates by something else.
#ifndef NETCLONE_SEQUENCE_P4
#define NETCLONE_SEQUENCE_P4

control Sequence(inout ingress_headers_t hdr) {
    Register<bit<32>, bit<1>>(1, 0) cells;
    RegisterAction<bit<32>, bit<1>, bit<32>>(cells) next_number = {
        void apply(inout bit<32> number, out bit<32> rv) {
            if (number >= LAST_SEQUENCE) {
                number = 1;
            } else {
                number = number + 1;
            }
            rv = number;
        }
    };

    action next() {
        hdr.netclone.seq = next_number.execute(0);
    }

    table sequence {
        actions = {
            next;
        }
        const default_action = next();
        size = 1;
    }

    apply {
        sequence.apply();
    }
}

#endif
