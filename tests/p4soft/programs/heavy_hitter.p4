// Sources that send much: a sketch of two rows counts packets per source; when both rows reach the threshold, the source
// is reported in a digest, once, as a Bloom filter remembers.
#include "frame.p4"

struct metadata_t {
    bit<16> row1_cell;
    bit<16> row2_cell;
    bit<1> over1;
    bit<1> over2;
    bit<1> reported;
    bit<32> threshold;
}

struct report_t {
    bit<32> src_addr;
    PortId_t port;
}

FRAME_PARSER(metadata_t)

control SketchRow(in bit<16> cell, in bit<32> threshold, out bit<1> over) {
    Register<bit<32>, bit<16>>(65536, 0) counts;
    RegisterAction<bit<32>, bit<16>, bit<1>>(counts) count_packet = {
        void apply(inout bit<32> count, out bit<1> rv) {
            rv = 0;
            if (count >= threshold) {
                rv = 1;
            }
            count = count |+| 1;
        }
    };

    apply {
        over = count_packet.execute(cell);
    }
}

control HeavyHitter(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Hash<bit<16>>(HashAlgorithm_t.CRC32) crc32;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc16;
    SketchRow() row1;
    SketchRow() row2;

    Register<bit<1>, bit<16>>(65536, 0) reported;
    RegisterAction<bit<1>, bit<16>, bit<1>>(reported) test_and_set = {
        void apply(inout bit<1> bit_, out bit<1> rv) {
            rv = bit_;
            bit_ = 1;
        }
    };

    action hash1() {
        md.row1_cell = crc32.get({hdr.ipv4.src_addr});
    }

    table row1_hash {
        actions = {
            hash1;
        }
        const default_action = hash1();
        size = 1;
    }

    action hash2() {
        md.row2_cell = crc16.get({hdr.ipv4.src_addr});
    }

    table row2_hash {
        actions = {
            hash2;
        }
        const default_action = hash2();
        size = 1;
    }

    action set_threshold(bit<32> packets) {
        md.threshold = packets;
    }

    table threshold {
        actions = {
            set_threshold;
        }
        default_action = set_threshold(1000);
        size = 1;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port ^ 1;
        if (hdr.ipv4.isValid()) {
            threshold.apply();
            row1_hash.apply();
            row2_hash.apply();
            row1.apply(md.row1_cell, md.threshold, md.over1);
            row2.apply(md.row2_cell, md.threshold, md.over2);
            if (md.over1 == 1 && md.over2 == 1) {
                md.reported = test_and_set.execute(md.row1_cell);
                if (md.reported == 0) {
                    ig_dprsr_md.digest_type = 1;
                }
            }
        }
    }
}

control HeavyHitterDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        in ingress_intrinsic_metadata_t ig_intr_md) {
    Digest<report_t>() report;

    apply {
        if (ig_dprsr_md.digest_type == 1) {
            report.pack({hdr.ipv4.src_addr, ig_intr_md.ingress_port});
        }
        pkt.emit(hdr);
    }
}

Pipeline(FrameParser(), HeavyHitter(), HeavyHitterDeparser(), NoEgressParser(), NoEgress(), NoEgressDeparser()) pipe;

Switch(pipe) main;
