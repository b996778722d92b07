// Every customer (a prefix of source addresses) has a two-rate meter: green goes on, yellow goes on in a low queue and
// marked, red is dropped.
#include "frame.p4"

struct metadata_t {
    bit<16> customer;
    bit<8> color;
    bool marked;
}

FRAME_PARSER(metadata_t)

control RateLimiter(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Meter<bit<16>>(256, MeterType_t.PACKETS) rate;
    Counter<bit<32>, bit<16>>(256, CounterType_t.PACKETS) dropped;

    action measure(bit<16> customer) {
        md.customer = customer;
        md.color = rate.execute(customer);
    }

    table customers {
        key = {
            hdr.ipv4.src_addr: lpm;
        }
        actions = {
            measure;
            NoAction;
        }
        const default_action = NoAction();
        size = 256;
    }

    action pass() {
        ig_tm_md.qid = 1;
    }

    action demote() {
        ig_tm_md.qid = 0;
        hdr.ipv4.diffserv = 0x08;
        md.marked = true;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
        dropped.count(md.customer);
    }

    table verdict {
        key = {
            md.color: exact;
        }
        actions = {
            pass;
            demote;
            drop;
        }
        const entries = {
            (bit<8>) MeterColor_t.GREEN: pass();
            (bit<8>) MeterColor_t.YELLOW: demote();
            (bit<8>) MeterColor_t.RED: drop();
        }
        const default_action = pass();
        size = 4;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port ^ 1;
        if (hdr.ipv4.isValid()) {
            if (customers.apply().hit) {
                verdict.apply();
            }
        }
    }
}

control RateLimiterDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (md.marked) {
            hdr.ipv4.hdr_checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_len, hdr.ipv4.identification,
                hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
                hdr.ipv4.dst_addr});
        }
        pkt.emit(hdr);
    }
}

Pipeline(FrameParser(), RateLimiter(), RateLimiterDeparser(), NoEgressParser(), NoEgress(), NoEgressDeparser()) pipe;

Switch(pipe) main;
