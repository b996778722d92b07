// One of the two tables of fingerprints: the faster response of a cloned request leaves its number, the slower one finds it and takes it away. A number
// that is another's is overwritten: then a slower response may pass, but never is a faster one lost.
#ifndef NETCLONE_FILTER_P4
#define NETCLONE_FILTER_P4

control Filter(in netclone_h netclone, inout ingress_metadata_t md) {
    Register<bit<32>, bit<17>>(FINGERPRINTS, 0) cells;
    RegisterAction<bit<32>, bit<17>, bit<8>>(cells) exchange_fingerprint = {
        void apply(inout bit<32> fingerprint, out bit<8> rv) {
            rv = 0;
            if (fingerprint == netclone.seq) {
                fingerprint = 0;
                rv = 1;
            } else {
                if (fingerprint != 0) {
                    rv = 2;
                }
                fingerprint = netclone.seq;
            }
        }
    };

    action exchange() {
        md.slot = exchange_fingerprint.execute(netclone.seq[16:0]);
    }

    table fingerprint {
        actions = {
            exchange;
        }
        const default_action = exchange();
        size = 1;
    }

    apply {
        fingerprint.apply();
    }
}

#endif
