// A count-min sketch of the sampled requests for uncached keys: four rows of saturating counters. A key is hot if all four had reached the threshold.
#ifndef SHARED_CACHE_SKETCH_P4
#define SHARED_CACHE_SKETCH_P4

#define SKETCH_ROW(NAME, POLYNOMIAL) \
control NAME(in op_h op, in bit<16> threshold, out bit<1> is_hot) { \
    CRCPolynomial<bit<32>>(POLYNOMIAL, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF) polynomial; \
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) hash; \
    Register<bit<16>, bit<16>>(SKETCH_CELLS, 0) cells; \
    RegisterAction<bit<16>, bit<16>, bit<1>>(cells) count = { \
        void apply(inout bit<16> cell, out bit<1> rv) { \
            rv = 0; \
            if (cell >= threshold) { \
                rv = 1; \
            } \
            cell = cell |+| 1; \
        } \
    }; \
    action count_key() { \
        is_hot = count.execute(hash.get({op.keylolo, op.keylohi, op.keyhilo, op.keyhihilo, op.keyhihihi})); \
    } \
    table row { \
        actions = { count_key; } \
        const default_action = count_key(); \
        size = 1; \
    } \
    apply { \
        row.apply(); \
    } \
}

SKETCH_ROW(SketchRow0, 32w0x04C11DB7)  // CRC-32
SKETCH_ROW(SketchRow1, 32w0x1EDC6F41)  // CRC-32C
SKETCH_ROW(SketchRow2, 32w0x741B8CD7)  // CRC-32K
SKETCH_ROW(SketchRow3, 32w0xA833982B)  // CRC-32D

control Sketch(inout egress_headers_t hdr, inout egress_metadata_t md) {
    SketchRow0() row_0;
    SketchRow1() row_1;
    SketchRow2() row_2;
    SketchRow3() row_3;

    apply {
        row_0.apply(hdr.op, hdr.bridge.hot_threshold, md.hot_0);
        row_1.apply(hdr.op, hdr.bridge.hot_threshold, md.hot_1);
        row_2.apply(hdr.op, hdr.bridge.hot_threshold, md.hot_2);
        row_3.apply(hdr.op, hdr.bridge.hot_threshold, md.hot_3);
    }
}

#endif
