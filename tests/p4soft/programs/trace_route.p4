// Probes collect a record per pass and recirculate as often as they ask for; watched frames are mirrored to a collector,
// with a header that says where they came in.
#include "frame.p4"

#define MAX_RECORDS 4
#define RECIRCULATION_PORT 68

const bit<16> ETHERTYPE_PROBE = 0x88B5;
const bit<16> ETHERTYPE_WATCHED = 0x88B6;
const MirrorId_t COLLECTOR = 5;

header probe_h {
    bit<8> passes;  // still to go
    bit<8> count;   // of records
}

header record_h {
    @padding bit<7> _pad;
    bit<9> port;
    bit<16> number;
}

header watch_h {
    bit<32> magic;
    @padding bit<7> _pad;
    bit<9> port;
}

struct trace_headers_t {
    ethernet_h ethernet;
    probe_h probe;
    record_h[MAX_RECORDS] records;
}

struct metadata_t {
    bit<9> port;
    bit<32> magic;
    MirrorId_t collector;
}

parser TraceParser(packet_in pkt, out trace_headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_PROBE: parse_probe;
            default: accept;
        }
    }

    state parse_probe {
        pkt.extract(hdr.probe);
        transition select(hdr.probe.count) {
            0: accept;
            1: parse_1;
            2: parse_2;
            3: parse_3;
            4: parse_4;
        }
    }

    state parse_4 {
        pkt.extract(hdr.records.next);
        transition parse_3;
    }

    state parse_3 {
        pkt.extract(hdr.records.next);
        transition parse_2;
    }

    state parse_2 {
        pkt.extract(hdr.records.next);
        transition parse_1;
    }

    state parse_1 {
        pkt.extract(hdr.records.next);
        transition accept;
    }
}

control Trace(
        inout trace_headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<bit<16>, bit<1>>(1, 0) passes;
    RegisterAction<bit<16>, bit<1>, bit<16>>(passes) next_number = {
        void apply(inout bit<16> value, out bit<16> rv) {
            value = value + 1;
            rv = value;
        }
    };

    // The newest record comes first; of more than MAX_RECORDS the oldest is lost.
    action add_record() {
        hdr.records.push_front(1);
        hdr.records[0].setValid();
        hdr.records[0].port = ig_intr_md.ingress_port;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        md.port = ig_intr_md.ingress_port;
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.probe.isValid()) {
            add_record();
            hdr.records[0].number = next_number.execute(0);
            if (hdr.probe.count != MAX_RECORDS) {
                hdr.probe.count = hdr.probe.count + 1;
            }
            if (hdr.probe.passes != 0) {
                hdr.probe.passes = hdr.probe.passes - 1;
                ig_tm_md.ucast_egress_port = RECIRCULATION_PORT;
            }
        } else if (hdr.ethernet.ether_type == ETHERTYPE_WATCHED) {
            ig_dprsr_md.mirror_type = 1;
            // A deparser knows no constants but zero.
            md.magic = 0xC0FFEE00;
            md.collector = COLLECTOR;
        }
    }
}

control TraceDeparser(
        packet_out pkt,
        inout trace_headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Mirror() mirror;

    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<watch_h>(md.collector, {md.magic, 0, md.port});
        }
        pkt.emit(hdr);
    }
}

Pipeline(TraceParser(), Trace(), TraceDeparser(), NoEgressParser(), NoEgress(), NoEgressDeparser()) pipe;

Switch(pipe) main;
