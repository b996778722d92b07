// One table of each kind that BF Runtime knows and p4soft compiles.
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {
    bit<9> from_port;
    bit<48> source;
    MirrorId_t session;
}

struct learnt_t {
    bit<48> source;
    bit<9> port;
}

struct pair_t {
    bit<32> first;
    bit<32> second;
}

struct port_t {
    bit<16> room;
    bool is_muted;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    value_set<bit<16>>(4) unwanted;

    state start {
        pkt.extract(ig_intr_md);
        port_t port = port_metadata_unpack<port_t>(pkt);
        pkt.extract(hdr.ethernet);
        transition select(port.is_muted) {
            true: dropped;
            default: heard;
        }
    }
    state heard {
        transition select(hdr.ethernet.ether_type) {
            unwanted: dropped;
            default: accept;
        }
    }
    // What matches no case is dropped.
    state dropped {
        transition select(hdr.ethernet.ether_type) {
            0: accept;
        }
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Counter<bit<64>, bit<8>>(16, CounterType_t.PACKETS_AND_BYTES) seen;
    Meter<bit<8>>(16, MeterType_t.BYTES) limits;
    Meter<bit<8>>(4, MeterType_t.PACKETS) pace;
    Register<bit<32>, bit<8>>(256, 7) hits;
    Register<pair_t, bit<8>>(16) pairs;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) choice;
    ActionProfile(8) members;
    ActionSelector(members, choice, SelectorMode_t.FAIR, 4, 4) groups;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) forwarded;

    RegisterAction<bit<32>, bit<8>, bit<32>>(hits) count_hit = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) count_pair = {
        void apply(inout pair_t value) {
            value.first = value.first + 1;
        }
    };

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
        forwarded.count();
    }

    action discard() {
        ig_dprsr_md.drop_ctl = 1;
        forwarded.count();
    }

    table forward {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            send;
            discard;
        }
        default_action = discard();
        counters = forwarded;
        size = 131072;
    }

    action mark(bit<8> value) {
        hdr.ethernet.src_addr[7:0] = value;
    }

    DirectMeter(MeterType_t.BYTES) allowance;

    action police(bit<8> value) {
        hdr.ethernet.src_addr[39:32] = allowance.execute();
        hdr.ethernet.src_addr[31:24] = value;
    }

    table policed {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            police;
            NoAction;
        }
        default_action = NoAction();
        meters = allowance;
        size = 64;
    }

    table watched {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            mark;
            NoAction;
        }
        default_action = NoAction();
        idle_timeout = true;
        size = 64;
    }

    DirectRegister<pair_t>({5, 7}) tally;
    RegisterParam<bit<32>>(1) growth;
    DirectRegisterAction<pair_t, bit<32>>(tally) grow = {
        void apply(inout pair_t value) {
            value.first = value.first + growth.read();
            value.second = value.second + 100;
        }
    };

    action count_in_entry(bit<8> value) {
        grow.execute();
        hdr.ethernet.src_addr[7:0] = value;
    }

    table tallied {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            count_in_entry;
            NoAction;
        }
        default_action = NoAction();
        registers = tally;
        size = 64;
    }

    Lpf<bit<8>, bit<8>>(8) smooth;
    Wred<bit<8>, bit<8>>(8, 1, 0) early;

    action filter(bit<8> index) {
        hdr.ethernet.src_addr[23:16] = smooth.execute(hdr.ethernet.dst_addr[7:0], index);
    }

    action thin_out(bit<8> index) {
        hdr.ethernet.src_addr[15:8] = early.execute(hdr.ethernet.dst_addr[7:0], index);
    }

    Hash<bit<16>>(HashAlgorithm_t.CRC16) mixed;

    action hash() {
        hdr.ethernet.src_addr[15:0] = mixed.get({hdr.ethernet.dst_addr, hdr.ethernet.ether_type});
    }

    table filtered {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            filter;
            thin_out;
            hash;
            NoAction;
        }
        default_action = NoAction();
        size = 4;
    }

    table prefixes {
        key = {
            hdr.ethernet.dst_addr : lpm;
        }
        actions = {
            mark;
            NoAction;
        }
        default_action = NoAction();
        size = 64;
    }

    table ranges {
        key = {
            hdr.ethernet.ether_type : range;
            hdr.ethernet.src_addr : ternary;
        }
        actions = {
            mark;
            NoAction;
        }
        const default_action = NoAction();
        size = 4;
    }

    table constants {
        key = {
            hdr.ethernet.ether_type : exact;
        }
        actions = {
            mark;
            NoAction;
        }
        const entries = {
            0x1234 : mark(7);
        }
        default_action = NoAction();
        size = 4;
    }

    DirectCounter<bit<64>>(CounterType_t.PACKETS) recognised;
    DirectMeter(MeterType_t.PACKETS) patience;

    action recognise(bit<8> value) {
        hdr.ethernet.src_addr[23:16] = patience.execute();
        hdr.ethernet.src_addr[15:8] = value;
        recognised.count();
    }

    action overlook() {
        recognised.count();
    }

    table known {
        key = {
            hdr.ethernet.ether_type : exact;
        }
        actions = {
            recognise;
            overlook;
        }
        const entries = {
            0x1235 : recognise(7);
        }
        const default_action = overlook();
        counters = recognised;
        meters = patience;
        size = 4;
    }

    action to_group(MulticastGroupId_t group) {
        ig_tm_md.mcast_grp_a = group;
    }

    action to_session(MirrorId_t session) {
        ig_dprsr_md.mirror_type = 1;
        md.session = session;
    }

    action by_pace(bit<8> index) {
        hdr.ethernet.src_addr[47:40] = pace.execute(index);
    }

    table copied {
        key = {
            hdr.ethernet.ether_type : exact;
        }
        actions = {
            to_group;
            to_session;
            by_pace;
            NoAction;
        }
        default_action = NoAction();
        size = 4;
    }

    action paint(bit<8> colour) {
        hdr.ethernet.src_addr[47:40] = colour;
    }

    table painted {
        key = {
            hdr.ethernet.dst_addr : exact;
            hdr.ethernet.ether_type : selector;
        }
        actions = {
            paint;
            NoAction;
        }
        default_action = NoAction();
        implementation = groups;
        size = 16;
    }

    apply {
        seen.count(0);
        painted.apply();
        if (limits.execute(0) != 3) {
            count_hit.execute(0);
            count_pair.execute(1);
        }
        policed.apply();
        watched.apply();
        tallied.apply();
        filtered.apply();
        prefixes.apply();
        ranges.apply();
        constants.apply();
        known.apply();
        copied.apply();
        forward.apply();
        md.from_port = ig_intr_md.ingress_port;
        md.source = hdr.ethernet.src_addr;
        ig_dprsr_md.digest_type = 1;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Digest<learnt_t>() learn;
    Mirror() mirror;

    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit(md.session);
        }
        if (ig_dprsr_md.digest_type == 1) {
            learn.pack({md.source, md.from_port});
        }
        pkt.emit(hdr);
    }
}

struct no_metadata_t {
}

parser EgressParser(packet_in pkt, out headers_t hdr, out no_metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout no_metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        // Only copies of groups have one.
        if (eg_intr_md.egress_rid != 0) {
            hdr.ethernet.src_addr[15:0] = eg_intr_md.egress_rid;
        }
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in no_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
