// Ports are inside or outside. A flow that was opened from the inside may answer from the outside; nothing else may.
// Open flows are kept in a Bloom filter of two rows, which the control plane clears.
#include "frame.p4"

enum bit<8> side_t {
    UNKNOWN = 0,
    INSIDE = 1,
    OUTSIDE = 2
}

struct metadata_t {
    side_t side;
    bit<32> inner_addr;
    bit<32> outer_addr;
    bit<16> inner_port;
    bit<16> outer_port;
    bit<16> row1_cell;
    bit<16> row2_cell;
    bit<1> open1;
    bit<1> open2;
}

FRAME_PARSER(metadata_t)

control FilterRow(in bit<16> cell, in side_t side, out bit<1> open) {
    Register<bit<1>, bit<16>>(65536, 0) flows;
    RegisterAction<bit<1>, bit<16>, void>(flows) remember = {
        void apply(inout bit<1> flow) {
            flow = 1;
        }
    };
    RegisterAction<bit<1>, bit<16>, bit<1>>(flows) look_up = {
        void apply(inout bit<1> flow, out bit<1> rv) {
            rv = flow;
        }
    };

    apply {
        if (side == side_t.INSIDE) {
            remember.execute(cell);
            open = 1;
        } else {
            open = look_up.execute(cell);
        }
    }
}

control Firewall(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Hash<bit<16>>(HashAlgorithm_t.CRC32) crc32;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc16;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) seen;
    FilterRow() row1;
    FilterRow() row2;

    action from_inside(PortId_t to) {
        seen.count();
        md.side = side_t.INSIDE;
        md.inner_addr = hdr.ipv4.src_addr;
        md.outer_addr = hdr.ipv4.dst_addr;
        md.inner_port = hdr.udp.src_port;
        md.outer_port = hdr.udp.dst_port;
        ig_tm_md.ucast_egress_port = to;
    }

    action from_outside(PortId_t to) {
        seen.count();
        md.side = side_t.OUTSIDE;
        md.inner_addr = hdr.ipv4.dst_addr;
        md.outer_addr = hdr.ipv4.src_addr;
        md.inner_port = hdr.udp.dst_port;
        md.outer_port = hdr.udp.src_port;
        ig_tm_md.ucast_egress_port = to;
    }

    action unknown_port() {
        seen.count();
        ig_dprsr_md.drop_ctl = 1;
    }

    table ports {
        key = {
            ig_intr_md.ingress_port: exact;
        }
        actions = {
            from_inside;
            from_outside;
            unknown_port;
        }
        const default_action = unknown_port();
        counters = seen;
        size = 64;
    }

    action hash1() {
        md.row1_cell = crc32.get({md.inner_addr, md.outer_addr, md.inner_port, md.outer_port});
    }

    table row1_hash {
        actions = {
            hash1;
        }
        const default_action = hash1();
        size = 1;
    }

    action hash2() {
        md.row2_cell = crc16.get({md.inner_addr, md.outer_addr, md.inner_port, md.outer_port});
    }

    table row2_hash {
        actions = {
            hash2;
        }
        const default_action = hash2();
        size = 1;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        if (!hdr.udp.isValid()) {
            ig_dprsr_md.drop_ctl = 1;
            exit;
        }
        switch (ports.apply().action_run) {
            unknown_port: {
                return;
            }
        }
        row1_hash.apply();
        row2_hash.apply();
        row1.apply(md.row1_cell, md.side, md.open1);
        row2.apply(md.row2_cell, md.side, md.open2);
        if (md.open1 == 0 || md.open2 == 0) {
            ig_dprsr_md.drop_ctl = 1;
        }
    }
}

control FirewallDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(FrameParser(), Firewall(), FirewallDeparser(), NoEgressParser(), NoEgress(), NoEgressDeparser()) pipe;

Switch(pipe) main;
