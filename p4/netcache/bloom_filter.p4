// Lets a hot key pass once per clear period: three rows of bits, cleared with the sketch by the control plane.
#ifndef NETCACHE_BLOOM_FILTER_P4
#define NETCACHE_BLOOM_FILTER_P4

#define BLOOM_ROW(NAME, POLYNOMIAL) \
control NAME(in op_h op, out bit<1> is_new) { \
    CRCPolynomial<bit<32>>(POLYNOMIAL, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF) polynomial; \
    Hash<bit<18>>(HashAlgorithm_t.CUSTOM, polynomial) hash; \
    Register<bit<1>, bit<18>>(BLOOM_CELLS, 0) cells; \
    RegisterAction<bit<1>, bit<18>, bit<1>>(cells) set = { \
        void apply(inout bit<1> cell, out bit<1> rv) { \
            rv = ~cell; \
            cell = 1; \
        } \
    }; \
    action set_key() { \
        is_new = set.execute(hash.get({op.keylolo, op.keylohi, op.keyhilo, op.keyhihilo, op.keyhihihi})); \
    } \
    table row { \
        actions = { set_key; } \
        const default_action = set_key(); \
        size = 1; \
    } \
    apply { \
        row.apply(); \
    } \
}

BLOOM_ROW(BloomRow0, 32w0x04C11DB7)  // CRC-32
BLOOM_ROW(BloomRow1, 32w0x1EDC6F41)  // CRC-32C
BLOOM_ROW(BloomRow2, 32w0x814141AB)  // CRC-32Q

control BloomFilter(in egress_headers_t hdr, inout egress_metadata_t md) {
    BloomRow0() row_0;
    BloomRow1() row_1;
    BloomRow2() row_2;

    apply {
        row_0.apply(hdr.op, md.new_0);
        row_1.apply(hdr.op, md.new_1);
        row_2.apply(hdr.op, md.new_2);
    }
}

#endif
