// Options in type-length-value form behind Ethernet: the parser looks ahead at kind and length, keeps the marks and the
// stamp, drops padding, and refuses what it cannot skip. Marks are answered in the order in which they came.
#include "frame.p4"

const bit<16> ETHERTYPE_OPTIONS = 0x88B7;

#define MAX_MARKS 3


header mark_h {
    bit<8> kind;  // 2
    bit<8> len;   // 4, kind and len included
    bit<16> mark;
}

header stamp_h {
    bit<8> kind;  // 3
    bit<8> len;   // 6
    bit<32> stamp;
}

header end_h {
    bit<8> kind;  // 0
}

header option_h {
    bit<8> kind;
    bit<8> len;
}

struct tlv_headers_t {
    ethernet_h ethernet;
    stamp_h stamp;
    mark_h[MAX_MARKS] marks;
    end_h end;
}

struct metadata_t {
}

parser TlvParser(packet_in pkt, out tlv_headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_OPTIONS: next_option;
        }
    }

    // The end and padding have no length. The Tofino compiler unrolls this loop, because it fills a stack, and refuses what
    // has more options.
    @pragma max_loop_depth 8
    state next_option {
        transition select(pkt.lookahead<bit<8>>()) {
            0: parse_end;
            1: skip_padding;
            default: next_long_option;
        }
    }

    state next_long_option {
        option_h option = pkt.lookahead<option_h>();
        transition select(option.kind, option.len) {
            (2, 4): parse_mark;
            (3, 6): parse_stamp;
            (0x80 &&& 0x80, 2): skip_2;
            (0x80 &&& 0x80, 4): skip_4;
            (0x80 &&& 0x80, 8): skip_8;
        }
    }

    state skip_padding {
        pkt.advance(8);
        transition next_option;
    }

    state parse_mark {
        pkt.extract(hdr.marks.next);
        transition next_option;
    }

    state parse_stamp {
        pkt.extract(hdr.stamp);
        transition next_option;
    }

    state skip_2 {
        pkt.advance(16);
        transition next_option;
    }

    state skip_4 {
        pkt.advance(32);
        transition next_option;
    }

    state skip_8 {
        pkt.advance(64);
        transition next_option;
    }

    state parse_end {
        pkt.extract(hdr.end);
        transition accept;
    }
}

control Tlv(
        inout tlv_headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.bypass_egress = 1;
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        if (hdr.stamp.isValid()) {
            hdr.stamp.stamp = hdr.stamp.stamp + 1;
        }
    }
}

control TlvDeparser(
        packet_out pkt,
        inout tlv_headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(TlvParser(), Tlv(), TlvDeparser(), NoEgressParser(), NoEgress(), NoEgressDeparser()) pipe;

Switch(pipe) main;
