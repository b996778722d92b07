// The slot of a cached key.
#ifndef SHARED_CACHE_CACHE_LOOKUP_P4
#define SHARED_CACHE_CACHE_LOOKUP_P4

control CacheLookup(inout ingress_headers_t hdr) {
    action cached_at(bit<16> slot) {
        hdr.bridge.slot = slot;
        hdr.bridge.is_cached = 1;
    }

    table cache_lookup {
        key = {
            hdr.op.keylolo: exact @name("keylolo");
            hdr.op.keylohi: exact @name("keylohi");
            hdr.op.keyhilo: exact @name("keyhilo");
            hdr.op.keyhihilo: exact @name("keyhihilo");
            hdr.op.keyhihihi: exact @name("keyhihihi");
        }
        actions = {
            cached_at;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = SLOTS;
    }

    apply {
        cache_lookup.apply();
    }
}

#endif
