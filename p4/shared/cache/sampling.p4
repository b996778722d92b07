// Draws the packets that count for hot keys and frequencies: those whose 16 random bits are in a range of this table.
#ifndef SHARED_CACHE_SAMPLING_P4
#define SHARED_CACHE_SAMPLING_P4

control Sampling(inout ingress_headers_t hdr, inout ingress_metadata_t md) {
    Random<bit<16>>() generator;

    action draw() {
        md.random = generator.get();
    }

    table random {
        actions = {
            draw;
        }
        const default_action = draw();
        size = 1;
    }

    action sample() {
        hdr.bridge.is_sampled = 1;
    }

    table sampling {
        key = {
            md.random: range @name("random");
        }
        actions = {
            sample;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = SAMPLING_ENTRIES;
    }

    apply {
        random.apply();
        sampling.apply();
    }
}

#endif
