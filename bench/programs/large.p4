// 20 tables and 40 registers, all of which every packet passes:
//
//    ingress: destination (exact) -> 6 x Flow: hosts (exact), prefixes (lpm), policy (ternary and range); 6 registers, 2 hashes
//    egress:  accounting (exact); 4 registers
//
// What a Flow finds out is the index of its registers, and `mark` a key of the next one, so nothing can be left out. Equivalent for
// BMv2: turntable_bench/bmv2_json.py.
#include <core.p4>
#include <tna.p4>

#include "headers.p4"

struct metadata_t {
    bit<10> pair;
    bit<10> group;
    bit<10> mark;
    bit<16> row;
    bit<32> since;
    bit<1> known;
}

#include "udp_ingress.p4"

control Flow(inout headers_t hdr, inout metadata_t md, in bit<32> now)(bit<32> salt) {
    Register<bit<32>, bit<10>>(1024) frames;
    RegisterAction<bit<32>, bit<10>, bit<32>>(frames) count_frame = {
        void apply(inout bit<32> stored) {
            stored = stored + 1;
        }
    };

    Register<bit<32>, bit<10>>(1024) bytes;
    RegisterAction<bit<32>, bit<10>, bit<32>>(bytes) count_bytes = {
        void apply(inout bit<32> stored) {
            stored = stored + (bit<32>)hdr.ipv4.total_len;
        }
    };

    Register<bit<16>, bit<10>>(1024) longest;
    RegisterAction<bit<16>, bit<10>, bit<16>>(longest) keep_longest = {
        void apply(inout bit<16> stored) {
            stored = max(stored, hdr.ipv4.total_len);
        }
    };

    Register<bit<32>, bit<10>>(1024) last_seen;
    RegisterAction<bit<32>, bit<10>, bit<32>>(last_seen) exchange_time = {
        void apply(inout bit<32> stored, out bit<32> since) {
            since = now - stored;
            stored = now;
        }
    };

    Register<bit<32>, bit<16>>(65536) sketch;
    RegisterAction<bit<32>, bit<16>, bit<32>>(sketch) count_in_sketch = {
        void apply(inout bit<32> stored) {
            stored = stored |+| 1;
        }
    };

    Register<bit<1>, bit<16>>(65536) seen;
    RegisterAction<bit<1>, bit<16>, bit<1>>(seen) remember = {
        void apply(inout bit<1> stored, out bit<1> before) {
            before = stored;
            stored = 1;
        }
    };

    Hash<bit<16>>(HashAlgorithm_t.CRC32) crc32;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc16;

    action set_pair(bit<10> index) {
        md.pair = index;
    }

    action set_group(bit<10> index) {
        md.group = index;
    }

    action set_mark(bit<10> mark) {
        md.mark = mark;
    }

    table hosts {
        key = {
            hdr.ipv4.src_addr: exact @name("src_addr");
            hdr.ipv4.dst_addr: exact @name("dst_addr");
        }
        actions = {
            set_pair;
            NoAction;
        }
        const default_action = NoAction();
        size = 1024;
    }

    table prefixes {
        key = {
            hdr.ipv4.dst_addr: lpm @name("dst_addr");
        }
        actions = {
            set_group;
            NoAction;
        }
        const default_action = NoAction();
        size = 1024;
    }

    table policy {
        key = {
            md.mark: ternary @name("mark");
            hdr.ipv4.src_addr: ternary @name("src_addr");
            hdr.udp.dst_port: range @name("dst_port");
        }
        actions = {
            set_mark;
            NoAction;
        }
        const default_action = NoAction();
        size = 128;
    }

    apply {
        hosts.apply();
        prefixes.apply();
        policy.apply();
        count_frame.execute(md.pair);
        count_bytes.execute(md.pair);
        keep_longest.execute(md.group);
        md.since = exchange_time.execute(md.mark);
        md.row = crc32.get({salt, hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.udp.src_port, hdr.udp.dst_port});
        count_in_sketch.execute(md.row);
        md.row = crc16.get({salt, hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.udp.src_port, hdr.udp.dst_port});
        md.known = remember.execute(md.row);
    }
}

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Flow(1) flow1;
    Flow(2) flow2;
    Flow(3) flow3;
    Flow(4) flow4;
    Flow(5) flow5;
    Flow(6) flow6;

    action forward(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table destination {
        key = {
            hdr.ethernet.dst_addr: exact @name("dst_addr");
        }
        actions = {
            forward;
            @defaultonly drop;
        }
        const default_action = drop();
        size = 1024;
    }

    apply {
        destination.apply();
        if (hdr.udp.isValid()) {
            bit<32> now = ig_intr_md.ingress_mac_tstamp[31:0];
            flow1.apply(hdr, md, now);
            flow2.apply(hdr, md, now);
            flow3.apply(hdr, md, now);
            flow4.apply(hdr, md, now);
            flow5.apply(hdr, md, now);
            flow6.apply(hdr, md, now);
        }
    }
}

struct egress_metadata_t {
    bit<10> port;
    bit<32> since;
}

parser SwitchEgressParser(
        packet_in pkt,
        out headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    UdpParser() udp;

    state start {
        pkt.extract(eg_intr_md);
        udp.apply(pkt, hdr);
        transition accept;
    }
}

control SwitchEgress(
        inout headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Register<bit<32>, bit<10>>(1024) frames;
    RegisterAction<bit<32>, bit<10>, bit<32>>(frames) count_frame = {
        void apply(inout bit<32> stored) {
            stored = stored + 1;
        }
    };

    Register<bit<32>, bit<10>>(1024) bytes;
    RegisterAction<bit<32>, bit<10>, bit<32>>(bytes) count_bytes = {
        void apply(inout bit<32> stored) {
            stored = stored + (bit<32>)hdr.ipv4.total_len;
        }
    };

    Register<bit<16>, bit<10>>(1024) longest;
    RegisterAction<bit<16>, bit<10>, bit<16>>(longest) keep_longest = {
        void apply(inout bit<16> stored) {
            stored = max(stored, hdr.ipv4.total_len);
        }
    };

    Register<bit<32>, bit<10>>(1024) last_seen;
    RegisterAction<bit<32>, bit<10>, bit<32>>(last_seen) exchange_time = {
        void apply(inout bit<32> stored, out bit<32> since) {
            since = (bit<32>)eg_intr_md.enq_tstamp - stored;
            stored = (bit<32>)eg_intr_md.enq_tstamp;
        }
    };

    action set_port(bit<10> index) {
        md.port = index;
    }

    table accounting {
        key = {
            eg_intr_md.egress_port: exact @name("egress_port");
        }
        actions = {
            set_port;
            NoAction;
        }
        const default_action = NoAction();
        size = 512;
    }

    apply {
        if (hdr.udp.isValid()) {
            accounting.apply();
            count_frame.execute(md.port);
            count_bytes.execute(md.port);
            keep_longest.execute(md.port);
            md.since = exchange_time.execute(md.port);
        }
    }
}

control SwitchEgressDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(
    SwitchIngressParser(),
    SwitchIngress(),
    SwitchIngressDeparser(),
    SwitchEgressParser(),
    SwitchEgress(),
    SwitchEgressDeparser()
) pipe;

Switch(pipe) main;
