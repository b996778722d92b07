// A program of FarReach's size, to measure p4soft with and to see that nothing is missing: an exact lookup of 32,768 keys,
// a range-matched partition, hashes and a sampling bit in ingress; a sketch, nine metadata registers and 32 value
// registers (45 stateful ALUs) with 17 tables in egress; answers by egress mirror, recirculation on demand.
//
// A packet is Ethernet, IPv4, UDP and `op`, then, for operations that carry one, `vallen` and the value's 8-byte words, the highest first.
#include <core.p4>
#include <tna.p4>

#define SLOTS 32768
#define SKETCH_WIDTH 65536

#define RECIRCULATION_PORT 68

const bit<16> GETREQ = 0x0001;
const bit<16> PUTREQ = 0x0002;
const bit<16> DELREQ = 0x0003;
const bit<16> GETREQ_POP = 0x0011;
const bit<16> GETREQ_NLATEST = 0x0012;
const bit<16> PUTREQ_SEQ = 0x0013;
const bit<16> GETRES = 0x0101;
const bit<16> PUTRES = 0x0102;
const bit<16> DELRES = 0x0103;
const bit<16> GETRES_LATEST = 0x0111;
const bit<16> CACHE_POP = 0x0201;
const bit<16> LOADDATA = 0x0202;

const bit<8> FROM_INGRESS = 1;
const bit<8> ANSWER_COPY = 2;

enum bit<8> access_t {
    NONE = 0,
    READ = 1,
    EXCHANGE = 2,
    RESET = 3
}

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4> version;
    bit<4> ihl;
    bit<8> diffserv;
    bit<16> total_len;
    bit<16> identification;
    bit<3> flags;
    bit<13> frag_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> len;
    bit<16> checksum;
}

header op_h {
    bit<16> optype;
    bit<32> keylolo;
    bit<32> keylohi;
    bit<32> keyhilo;
    bit<16> keyhihilo;
    bit<16> keyhihihi;
}

header vallen_h {
    bit<16> vallen;
}

header value_h {
    bit<32> lo;
    bit<32> hi;
}

header seq_h {
    bit<32> seq;
    bit<8> stat;
    bit<8> source;
}

// From ingress to egress, in front of the frame.
header bridge_h {
    bit<8> origin;
    bit<16> index;
    bit<16> sketch1;
    bit<16> sketch2;
    bit<16> sketch3;
    bit<16> sketch4;
    bit<16> key_hash;
    bit<1> is_cached;
    bit<1> is_sampled;
    bit<1> snapshot_flag;
    @padding bit<3> _pad;
    bit<10> client_session;
    bit<16> hot_threshold;
}

// In front of a mirrored answer: who asked.
header answer_h {
    bit<8> origin;
    bit<8> _pad;
}

struct headers_t {
    bridge_h bridge;
    answer_h answer;
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    op_h op;
    vallen_h vallen;
    value_h value16;
    value_h value15;
    value_h value14;
    value_h value13;
    value_h value12;
    value_h value11;
    value_h value10;
    value_h value9;
    value_h value8;
    value_h value7;
    value_h value6;
    value_h value5;
    value_h value4;
    value_h value3;
    value_h value2;
    value_h value1;
    seq_h seq;
}

struct ingress_metadata_t {
    bit<16> key_hash;
    bit<1> recirculate;
    bit<1> is_routed;  // by address
}

struct egress_metadata_t {
    bit<1> hot1;
    bit<1> hot2;
    bit<1> hot3;
    bit<1> hot4;
    bit<1> is_hot;
    bit<8> valid;
    bit<1> latest;
    bit<1> deleted;
    bit<1> case1;
    bit<1> has_large_value;
    bit<32> frequency;
    bit<32> assigned_seq;
    bit<32> saved_seq;
    bit<32> large_value_seq;
    access_t access;
    bit<10> session;
    bit<8> copy_origin;
}

// --- Ingress ----------------------------------------------------------------------------------------------------------

parser SwitchIngressParser(
        packet_in pkt,
        out headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 17): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            1152: parse_op;
            default: accept;
        }
    }

    state parse_op {
        pkt.extract(hdr.op);
        transition accept;
    }
}

control SwitchIngress(
        inout headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Hash<bit<16>>(HashAlgorithm_t.CRC32) partition_crc;
    Hash<bit<16>>(HashAlgorithm_t.CRC32) sketch1_crc;
    CRCPolynomial<bit<32>>(32w0x1EDC6F41, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF) crc32c;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, crc32c) sketch2_crc;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) sketch3_identity;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) sketch4_crc;
    Random<bit<1>>() sampler;

    action recirculate() {
        ig_tm_md.ucast_egress_port = RECIRCULATION_PORT;
        ig_tm_md.bypass_egress = 1;
        md.recirculate = 1;
    }

    table need_recirculate {
        key = {
            hdr.op.optype: exact;
            ig_intr_md.ingress_port: exact;
        }
        actions = {
            recirculate;
            NoAction;
        }
        const default_action = NoAction();
        size = 128;
    }

    action set_hot_threshold(bit<16> threshold) {
        hdr.bridge.hot_threshold = threshold;
    }

    table hot_threshold {
        actions = {
            set_hot_threshold;
        }
        default_action = set_hot_threshold(10);
        size = 1;
    }

    action hash_partition() {
        md.key_hash = partition_crc.get({hdr.op.keylolo, hdr.op.keylohi, hdr.op.keyhilo, hdr.op.keyhihilo, hdr.op.keyhihihi});
    }

    table partition_hash {
        actions = {
            hash_partition;
        }
        const default_action = hash_partition();
        size = 1;
    }

    action to_server(bit<16> udp_port, PortId_t port) {
        hdr.udp.dst_port = udp_port;
        ig_tm_md.ucast_egress_port = port;
    }

    table partition {
        key = {
            hdr.op.optype: exact;
            md.key_hash: range;
        }
        actions = {
            to_server;
            NoAction;
        }
        const default_action = NoAction();
        size = 1024;
    }

#define SKETCH_HASH(NAME, ACTION, FIELD, HASH) \
    action ACTION() { hdr.bridge.FIELD = HASH.get({hdr.op.keylolo, hdr.op.keylohi, hdr.op.keyhilo, hdr.op.keyhihilo, hdr.op.keyhihihi}); } \
    table NAME { actions = { ACTION; } const default_action = ACTION(); size = 1; }

    SKETCH_HASH(sketch1_hash, hash_sketch1, sketch1, sketch1_crc)
    SKETCH_HASH(sketch2_hash, hash_sketch2, sketch2, sketch2_crc)
    SKETCH_HASH(sketch3_hash, hash_sketch3, sketch3, sketch3_identity)
    SKETCH_HASH(sketch4_hash, hash_sketch4, sketch4, sketch4_crc)

    action cached_at(bit<16> index) {
        hdr.bridge.index = index;
        hdr.bridge.is_cached = 1;
    }

    table lookup {
        key = {
            hdr.op.keylolo: exact;
            hdr.op.keylohi: exact;
            hdr.op.keyhilo: exact;
            hdr.op.keyhihilo: exact;
            hdr.op.keyhihihi: exact;
        }
        actions = {
            cached_at;
            NoAction;
        }
        const default_action = NoAction();
        size = SLOTS;
    }

    action set_snapshot_flag() {
        hdr.bridge.snapshot_flag = 1;
    }

    table snapshot {
        key = {
            hdr.op.optype: exact;
        }
        actions = {
            set_snapshot_flag;
            NoAction;
        }
        const default_action = NoAction();
        size = 8;
    }

    action to_client(MirrorId_t session) {
        hdr.bridge.client_session = session;
    }

    table client_session {
        key = {
            hdr.ipv4.src_addr: lpm;
        }
        actions = {
            to_client;
            NoAction;
        }
        const default_action = NoAction();
        size = 512;
    }

    action forward(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    table ipv4_forward {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            forward;
            NoAction;
        }
        const default_action = NoAction();
        size = 512;
    }

    action sample() {
        hdr.bridge.is_sampled = sampler.get();
    }

    action sample_always() {
        hdr.bridge.is_sampled = 1;
    }

    table sampling {
        key = {
            hdr.op.optype: exact;
        }
        actions = {
            sample;
            sample_always;
            NoAction;
        }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        if (hdr.op.isValid()) {
            need_recirculate.apply();
            if (md.recirculate == 0) {
                hot_threshold.apply();
                partition_hash.apply();
                if (!partition.apply().hit) {
                    md.is_routed = 1;
                }
                sketch1_hash.apply();
                sketch2_hash.apply();
                lookup.apply();
                sketch3_hash.apply();
                sketch4_hash.apply();
                snapshot.apply();
                client_session.apply();
                sampling.apply();
                hdr.bridge.key_hash = 1w0 ++ md.key_hash[14:0];  // a slot of seq_reg
                hdr.bridge.origin = FROM_INGRESS;
                hdr.bridge.setValid();
            }
        } else {
            md.is_routed = 1;
            ig_tm_md.bypass_egress = 1;
        }
        if (md.is_routed == 1) {
            ipv4_forward.apply();
        }
    }
}

control SwitchIngressDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

// --- Egress -----------------------------------------------------------------------------------------------------------

#define VALUE_STATE(STATE, FIELD, NEXT) \
    state STATE { pkt.extract(hdr.FIELD); transition NEXT; }

// Its depth passes the compiler's default of 160 bytes: --disable-parse-max-depth-limit.
parser SwitchEgressParser(
        packet_in pkt,
        out headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            FROM_INGRESS: parse_bridge;
            ANSWER_COPY: parse_answer;
        }
    }

    state parse_bridge {
        pkt.extract(hdr.bridge);
        transition parse_frame;
    }

    state parse_answer {
        pkt.extract(hdr.answer);
        transition parse_frame;
    }

    state parse_frame {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.op);
        transition select(hdr.op.optype) {
            PUTREQ: parse_vallen;
            PUTREQ_SEQ: parse_vallen;
            GETRES: parse_vallen;
            GETRES_LATEST: parse_vallen;
            CACHE_POP: parse_vallen;
            default: accept;
        }
    }

    state parse_vallen {
        pkt.extract(hdr.vallen);
        transition select(hdr.vallen.vallen) {
            0: accept;
            0 .. 8: parse_value1;
            9 .. 16: parse_value2;
            17 .. 24: parse_value3;
            25 .. 32: parse_value4;
            33 .. 40: parse_value5;
            41 .. 48: parse_value6;
            49 .. 56: parse_value7;
            57 .. 64: parse_value8;
            65 .. 72: parse_value9;
            73 .. 80: parse_value10;
            81 .. 88: parse_value11;
            89 .. 96: parse_value12;
            97 .. 104: parse_value13;
            105 .. 112: parse_value14;
            113 .. 120: parse_value15;
            121 .. 128: parse_value16;
            default: accept;
        }
    }

    VALUE_STATE(parse_value16, value16, parse_value15)
    VALUE_STATE(parse_value15, value15, parse_value14)
    VALUE_STATE(parse_value14, value14, parse_value13)
    VALUE_STATE(parse_value13, value13, parse_value12)
    VALUE_STATE(parse_value12, value12, parse_value11)
    VALUE_STATE(parse_value11, value11, parse_value10)
    VALUE_STATE(parse_value10, value10, parse_value9)
    VALUE_STATE(parse_value9, value9, parse_value8)
    VALUE_STATE(parse_value8, value8, parse_value7)
    VALUE_STATE(parse_value7, value7, parse_value6)
    VALUE_STATE(parse_value6, value6, parse_value5)
    VALUE_STATE(parse_value5, value5, parse_value4)
    VALUE_STATE(parse_value4, value4, parse_value3)
    VALUE_STATE(parse_value3, value3, parse_value2)
    VALUE_STATE(parse_value2, value2, parse_value1)
    VALUE_STATE(parse_value1, value1, accept)
}

control SketchRow(in bit<16> cell, in bit<16> threshold, out bit<1> is_hot) {
    Register<bit<16>, bit<16>>(SKETCH_WIDTH, 0) counts;
    RegisterAction<bit<16>, bit<16>, bit<1>>(counts) increment = {
        void apply(inout bit<16> count, out bit<1> rv) {
            rv = 0;
            if (count >= threshold) {
                rv = 1;
            }
            count = count |+| 1;
        }
    };

    apply {
        is_hot = increment.execute(cell);
    }
}

control ValueWord(inout bit<32> word, in bit<16> index, in access_t access) {
    Register<bit<32>, bit<16>>(SLOTS, 0) words;
    RegisterAction<bit<32>, bit<16>, bit<32>>(words) read = {
        void apply(inout bit<32> stored, out bit<32> rv) {
            rv = stored;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(words) exchange = {
        void apply(inout bit<32> stored, out bit<32> rv) {
            rv = stored;
            stored = word;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(words) reset = {
        void apply(inout bit<32> stored, out bit<32> rv) {
            rv = stored;
            stored = 0;
        }
    };

    apply {
        if (access == access_t.READ) {
            word = read.execute(index);
        } else if (access == access_t.EXCHANGE) {
            word = exchange.execute(index);
        } else if (access == access_t.RESET) {
            word = reset.execute(index);
        }
    }
}

// A register of one value per slot: a table says, by operation and state of the slot, what happens to it.
#define SLOT_REGISTER(TYPE, REGISTER, READ, SET, OLD, NEW) \
    Register<TYPE, bit<16>>(SLOTS, 0) REGISTER; \
    RegisterAction<TYPE, bit<16>, TYPE>(REGISTER) READ##_alu = { \
        void apply(inout TYPE stored, out TYPE rv) { rv = stored; } \
    }; \
    RegisterAction<TYPE, bit<16>, TYPE>(REGISTER) SET##_alu = { \
        void apply(inout TYPE stored, out TYPE rv) { rv = stored; stored = NEW; } \
    }; \
    action READ() { OLD = READ##_alu.execute(hdr.bridge.index); } \
    action SET() { OLD = SET##_alu.execute(hdr.bridge.index); }

#define VALUE_WORD(LO, HI, FIELD) \
    LO.apply(hdr.FIELD.lo, hdr.bridge.index, md.access); \
    HI.apply(hdr.FIELD.hi, hdr.bridge.index, md.access);

#define VALUE_REGISTERS(LO, HI) \
    ValueWord() LO; \
    ValueWord() HI;

#define SET_VALUE1 hdr.value1.setValid();
#define SET_VALUE2 SET_VALUE1 hdr.value2.setValid();
#define SET_VALUE3 SET_VALUE2 hdr.value3.setValid();
#define SET_VALUE4 SET_VALUE3 hdr.value4.setValid();
#define SET_VALUE5 SET_VALUE4 hdr.value5.setValid();
#define SET_VALUE6 SET_VALUE5 hdr.value6.setValid();
#define SET_VALUE7 SET_VALUE6 hdr.value7.setValid();
#define SET_VALUE8 SET_VALUE7 hdr.value8.setValid();
#define SET_VALUE9 SET_VALUE8 hdr.value9.setValid();
#define SET_VALUE10 SET_VALUE9 hdr.value10.setValid();
#define SET_VALUE11 SET_VALUE10 hdr.value11.setValid();
#define SET_VALUE12 SET_VALUE11 hdr.value12.setValid();
#define SET_VALUE13 SET_VALUE12 hdr.value13.setValid();
#define SET_VALUE14 SET_VALUE13 hdr.value14.setValid();
#define SET_VALUE15 SET_VALUE14 hdr.value15.setValid();
#define SET_VALUE16 SET_VALUE15 hdr.value16.setValid();

control SwitchEgress(
        inout headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    SketchRow() sketch1;
    SketchRow() sketch2;
    SketchRow() sketch3;
    SketchRow() sketch4;

    action set_is_hot() {
        md.is_hot = 1;
    }

    table is_hot {
        key = {
            md.hot1: exact;
            md.hot2: exact;
            md.hot3: exact;
            md.hot4: exact;
        }
        actions = {
            set_is_hot;
            NoAction;
        }
        const entries = {
            (1, 1, 1, 1): set_is_hot();
        }
        const default_action = NoAction();
        size = 2;
    }

    // Frequency, valid and seq.
    Register<bit<32>, bit<16>>(SLOTS, 0) frequency_reg;
    RegisterAction<bit<32>, bit<16>, bit<32>>(frequency_reg) count_alu = {
        void apply(inout bit<32> stored, out bit<32> rv) {
            stored = stored |+| 1;
            rv = stored;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(frequency_reg) clear_alu = {
        void apply(inout bit<32> stored, out bit<32> rv) {
            rv = 0;
            stored = 0;
        }
    };
    action count_access() {
        md.frequency = count_alu.execute(hdr.bridge.index);
    }
    action clear_frequency() {
        md.frequency = clear_alu.execute(hdr.bridge.index);
    }
    table frequency {
        key = {
            hdr.op.optype: exact;
            hdr.bridge.is_sampled: exact;
            hdr.bridge.is_cached: exact;
        }
        actions = {
            count_access;
            clear_frequency;
            NoAction;
        }
        const entries = {
            (GETREQ, 1, 1): count_access();
            (PUTREQ, 1, 1): count_access();
            (CACHE_POP, 0, 1): clear_frequency();
        }
        const default_action = NoAction();
        size = 8;
    }

    Register<bit<8>, bit<16>>(SLOTS, 0) valid_reg;
    RegisterAction<bit<8>, bit<16>, bit<8>>(valid_reg) read_valid_alu = {
        void apply(inout bit<8> stored, out bit<8> rv) {
            rv = stored;
        }
    };
    action read_valid() {
        md.valid = read_valid_alu.execute(hdr.bridge.index);
    }
    table valid {
        key = {
            hdr.bridge.is_cached: exact;
        }
        actions = {
            read_valid;
            NoAction;
        }
        const entries = {
            1: read_valid();
        }
        const default_action = NoAction();
        size = 2;
    }

    Register<bit<32>, bit<16>>(SLOTS, 0) seq_reg;
    RegisterAction<bit<32>, bit<16>, bit<32>>(seq_reg) assign_seq_alu = {
        void apply(inout bit<32> stored, out bit<32> rv) {
            if (stored >= 0x7FFFFFFF) {
                stored = 0;
            } else {
                stored = stored + 1;
            }
            rv = stored;
        }
    };
    action assign_seq() {
        md.assigned_seq = assign_seq_alu.execute(hdr.bridge.key_hash);
    }
    table seq {
        key = {
            hdr.op.optype: exact;
        }
        actions = {
            assign_seq;
            NoAction;
        }
        const entries = {
            PUTREQ: assign_seq();
            DELREQ: assign_seq();
        }
        const default_action = NoAction();
        size = 4;
    }

    Register<bit<1>, bit<16>>(SLOTS, 0) latest_reg;
    RegisterAction<bit<1>, bit<16>, bit<1>>(latest_reg) read_latest_alu = {
        void apply(inout bit<1> stored, out bit<1> rv) {
            rv = stored;
        }
    };
    RegisterAction<bit<1>, bit<16>, bit<1>>(latest_reg) set_latest_alu = {
        void apply(inout bit<1> stored, out bit<1> rv) {
            rv = stored;
            stored = 1;
        }
    };
    RegisterAction<bit<1>, bit<16>, bit<1>>(latest_reg) reset_latest_alu = {
        void apply(inout bit<1> stored, out bit<1> rv) {
            rv = stored;
            stored = 0;
        }
    };
    action read_latest() {
        md.latest = read_latest_alu.execute(hdr.bridge.index);
    }
    action set_latest() {
        md.latest = set_latest_alu.execute(hdr.bridge.index);
    }
    action reset_latest() {
        md.latest = reset_latest_alu.execute(hdr.bridge.index);
    }
    table latest {
        key = {
            hdr.op.optype: exact;
            hdr.bridge.is_cached: exact;
            md.valid: ternary;
        }
        actions = {
            read_latest;
            set_latest;
            reset_latest;
            NoAction;
        }
        const entries = {
            (GETREQ, 1, _): read_latest();
            (LOADDATA, 1, _): read_latest();
            (PUTREQ, 1, 1): set_latest();
            (DELREQ, 1, 1): set_latest();
            (PUTREQ, 1, 3): reset_latest();
            (DELREQ, 1, 3): reset_latest();
            (GETRES_LATEST, 1, 1): set_latest();
            (CACHE_POP, 1, _): reset_latest();
        }
        const default_action = NoAction();
        size = 16;
    }

#define BY_WRITE(TABLE, READ, WRITE) \
    table TABLE { \
        key = { hdr.op.optype: exact; hdr.bridge.is_cached: exact; md.valid: ternary; md.latest: ternary; } \
        actions = { READ; WRITE; NoAction; } \
        const entries = { \
            (GETREQ, 1, _, _): READ(); \
            (LOADDATA, 1, _, _): READ(); \
            (PUTREQ, 1, 1, _): WRITE(); \
            (DELREQ, 1, 1, _): WRITE(); \
            (GETRES_LATEST, 1, 1, 0): WRITE(); \
            (CACHE_POP, 1, _, _): WRITE(); \
        } \
        const default_action = NoAction(); \
        size = 16; \
    }

    Register<bit<1>, bit<16>>(SLOTS, 0) deleted_reg;
    RegisterAction<bit<1>, bit<16>, bit<1>>(deleted_reg) read_deleted_alu = {
        void apply(inout bit<1> stored, out bit<1> rv) {
            rv = stored;
        }
    };
    RegisterAction<bit<1>, bit<16>, bit<1>>(deleted_reg) set_deleted_alu = {
        void apply(inout bit<1> stored, out bit<1> rv) {
            rv = stored;
            stored = 1;
        }
    };
    RegisterAction<bit<1>, bit<16>, bit<1>>(deleted_reg) reset_deleted_alu = {
        void apply(inout bit<1> stored, out bit<1> rv) {
            rv = stored;
            stored = 0;
        }
    };
    action read_deleted() {
        md.deleted = read_deleted_alu.execute(hdr.bridge.index);
    }
    action set_deleted() {
        md.deleted = set_deleted_alu.execute(hdr.bridge.index);
    }
    action reset_deleted() {
        md.deleted = reset_deleted_alu.execute(hdr.bridge.index);
    }
    table deleted {
        key = {
            hdr.op.optype: exact;
            hdr.bridge.is_cached: exact;
            md.valid: ternary;
            md.latest: ternary;
        }
        actions = {
            read_deleted;
            set_deleted;
            reset_deleted;
            NoAction;
        }
        const entries = {
            (GETREQ, 1, _, _): read_deleted();
            (LOADDATA, 1, _, _): read_deleted();
            (PUTREQ, 1, 1, _): reset_deleted();
            (DELREQ, 1, 1, _): set_deleted();
            (GETRES_LATEST, 1, 1, 0): reset_deleted();
            (CACHE_POP, 1, _, _): reset_deleted();
        }
        const default_action = NoAction();
        size = 16;
    }

    SLOT_REGISTER(bit<16>, vallen_reg, read_vallen, exchange_vallen, hdr.vallen.vallen, hdr.vallen.vallen)
    BY_WRITE(vallen, read_vallen, exchange_vallen)

    SLOT_REGISTER(bit<32>, savedseq_reg, read_savedseq, exchange_savedseq, md.saved_seq, md.assigned_seq)
    BY_WRITE(savedseq, read_savedseq, exchange_savedseq)

    SLOT_REGISTER(bit<32>, largevalueseq_reg, read_largevalueseq, reset_largevalueseq, md.large_value_seq, 0)
    BY_WRITE(largevalueseq, read_largevalueseq, reset_largevalueseq)

    action set_has_large_value() {
        md.has_large_value = 1;
    }
    table large_value_block {
        key = {
            md.large_value_seq: exact;
        }
        actions = {
            set_has_large_value;
            NoAction;
        }
        const entries = {
            0: NoAction();
        }
        const default_action = set_has_large_value();
        size = 2;
    }

    SLOT_REGISTER(bit<1>, case1_reg, read_case1, test_and_set_case1, md.case1, 1)
    table case1 {
        key = {
            hdr.op.optype: exact;
            hdr.bridge.is_cached: exact;
            hdr.bridge.snapshot_flag: exact;
            md.valid: exact;
        }
        actions = {
            read_case1;
            test_and_set_case1;
            NoAction;
        }
        const entries = {
            (PUTREQ, 1, 1, 1): test_and_set_case1();
            (DELREQ, 1, 1, 1): test_and_set_case1();
        }
        const default_action = NoAction();
        size = 8;
    }

    action access_value(access_t access) {
        md.access = access;
    }
    table access_mode {
        key = {
            hdr.op.optype: exact;
            hdr.bridge.is_cached: exact;
            md.valid: ternary;
            md.latest: ternary;
        }
        actions = {
            access_value;
        }
        const entries = {
            (GETREQ, 1, _, _): access_value(access_t.READ);
            (LOADDATA, 1, _, _): access_value(access_t.READ);
            (PUTREQ, 1, 1, _): access_value(access_t.EXCHANGE);
            (GETRES_LATEST, 1, 1, 0): access_value(access_t.EXCHANGE);
            (CACHE_POP, 1, _, _): access_value(access_t.EXCHANGE);
            (DELREQ, 1, 1, _): access_value(access_t.RESET);
        }
        const default_action = access_value(access_t.NONE);
        size = 16;
    }

    VALUE_REGISTERS(value1_lo, value1_hi)
    VALUE_REGISTERS(value2_lo, value2_hi)
    VALUE_REGISTERS(value3_lo, value3_hi)
    VALUE_REGISTERS(value4_lo, value4_hi)
    VALUE_REGISTERS(value5_lo, value5_hi)
    VALUE_REGISTERS(value6_lo, value6_hi)
    VALUE_REGISTERS(value7_lo, value7_hi)
    VALUE_REGISTERS(value8_lo, value8_hi)
    VALUE_REGISTERS(value9_lo, value9_hi)
    VALUE_REGISTERS(value10_lo, value10_hi)
    VALUE_REGISTERS(value11_lo, value11_hi)
    VALUE_REGISTERS(value12_lo, value12_hi)
    VALUE_REGISTERS(value13_lo, value13_hi)
    VALUE_REGISTERS(value14_lo, value14_hi)
    VALUE_REGISTERS(value15_lo, value15_hi)
    VALUE_REGISTERS(value16_lo, value16_hi)

    action forward_as(bit<16> optype) {
        hdr.op.optype = optype;
    }

    // The answer leaves as a mirror copy to the client; the request itself ends here.
    action answer_as(bit<16> optype) {
        hdr.op.optype = optype;
        md.session = hdr.bridge.client_session;
        md.copy_origin = ANSWER_COPY;
        eg_dprsr_md.mirror_type = 1;
    }

    table decision {
        key = {
            hdr.op.optype: exact;
            hdr.bridge.is_cached: exact;
            md.is_hot: exact;
            md.valid: exact;
            md.latest: exact;
            md.deleted: exact;
            md.has_large_value: exact;
            md.case1: exact;
            hdr.bridge.snapshot_flag: exact;
        }
        actions = {
            forward_as;
            answer_as;
            NoAction;
        }
        const default_action = NoAction();
        size = 512;
    }

    action swap_addresses() {
        bit<32> client = hdr.ipv4.src_addr;
        hdr.ipv4.src_addr = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = client;
        bit<16> port = hdr.udp.src_port;
        hdr.udp.src_port = hdr.udp.dst_port;
        hdr.udp.dst_port = port;
        hdr.udp.checksum = 0;
    }
    table rewrite_addresses {
        key = {
            hdr.op.optype: exact;
            hdr.answer.isValid(): exact;
        }
        actions = {
            swap_addresses;
            NoAction;
        }
        const entries = {
            (GETRES, true): swap_addresses();
            (PUTRES, true): swap_addresses();
            (DELRES, true): swap_addresses();
        }
        const default_action = NoAction();
        size = 4;
    }

    action remove_value() {
        hdr.vallen.setInvalid();
        hdr.value1.setInvalid();
        hdr.value2.setInvalid();
        hdr.value3.setInvalid();
        hdr.value4.setInvalid();
        hdr.value5.setInvalid();
        hdr.value6.setInvalid();
        hdr.value7.setInvalid();
        hdr.value8.setInvalid();
        hdr.value9.setInvalid();
        hdr.value10.setInvalid();
        hdr.value11.setInvalid();
        hdr.value12.setInvalid();
        hdr.value13.setInvalid();
        hdr.value14.setInvalid();
        hdr.value15.setInvalid();
        hdr.value16.setInvalid();
    }
#define KEEP(ACTION, VALUES) action ACTION() { hdr.vallen.setValid(); VALUES }
    KEEP(keep_0, )
    KEEP(keep_1, SET_VALUE1)
    KEEP(keep_2, SET_VALUE2)
    KEEP(keep_3, SET_VALUE3)
    KEEP(keep_4, SET_VALUE4)
    KEEP(keep_5, SET_VALUE5)
    KEEP(keep_6, SET_VALUE6)
    KEEP(keep_7, SET_VALUE7)
    KEEP(keep_8, SET_VALUE8)
    KEEP(keep_9, SET_VALUE9)
    KEEP(keep_10, SET_VALUE10)
    KEEP(keep_11, SET_VALUE11)
    KEEP(keep_12, SET_VALUE12)
    KEEP(keep_13, SET_VALUE13)
    KEEP(keep_14, SET_VALUE14)
    KEEP(keep_15, SET_VALUE15)
    KEEP(keep_16, SET_VALUE16)

    table value_headers {
        key = {
            hdr.op.optype: exact;
            hdr.vallen.vallen: range;
        }
        actions = {
            keep_0; keep_1; keep_2; keep_3; keep_4; keep_5; keep_6; keep_7; keep_8;
            keep_9; keep_10; keep_11; keep_12; keep_13; keep_14; keep_15; keep_16;
            remove_value;
            NoAction;
        }
        const entries = {
            (GETRES, 0): keep_0();
            (GETRES, 1 .. 8): keep_1();
            (GETRES, 9 .. 16): keep_2();
            (GETRES, 17 .. 24): keep_3();
            (GETRES, 25 .. 32): keep_4();
            (GETRES, 33 .. 40): keep_5();
            (GETRES, 41 .. 48): keep_6();
            (GETRES, 49 .. 56): keep_7();
            (GETRES, 57 .. 64): keep_8();
            (GETRES, 65 .. 72): keep_9();
            (GETRES, 73 .. 80): keep_10();
            (GETRES, 81 .. 88): keep_11();
            (GETRES, 89 .. 96): keep_12();
            (GETRES, 97 .. 104): keep_13();
            (GETRES, 105 .. 112): keep_14();
            (GETRES, 113 .. 120): keep_15();
            (GETRES, 121 .. 128): keep_16();
            (PUTRES, 0 .. 0xFFFF): remove_value();
            (DELRES, 0 .. 0xFFFF): remove_value();
        }
        const default_action = NoAction();
        size = 64;
    }

    action set_lengths(bit<16> ipv4, bit<16> udp) {
        hdr.ipv4.total_len = ipv4;
        hdr.udp.len = udp;
    }
    // IPv4 20, UDP 8, op 18, seq 6 bytes; vallen 2 and the value where there is one.
    action lengths_of_value() {
        hdr.ipv4.total_len = hdr.vallen.vallen + 54;
        hdr.udp.len = hdr.vallen.vallen + 34;
    }
    table lengths {
        key = {
            hdr.op.optype: exact;
        }
        actions = {
            set_lengths;
            lengths_of_value;
            NoAction;
        }
        const entries = {
            GETRES: lengths_of_value();
            PUTRES: set_lengths(52, 32);
            DELRES: set_lengths(52, 32);
        }
        const default_action = NoAction();
        size = 8;
    }

    Counter<bit<32>, bit<16>>(16, CounterType_t.PACKETS) answered;
    action count_answer(bit<16> kind) {
        answered.count(kind);
    }
    table answer_count {
        key = {
            hdr.op.optype: exact;
        }
        actions = {
            count_answer;
            NoAction;
        }
        const entries = {
            GETRES: count_answer(0);
            PUTRES: count_answer(1);
            DELRES: count_answer(2);
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        if (hdr.bridge.isValid()) {
            if (hdr.bridge.is_sampled == 1 && hdr.bridge.is_cached == 0) {
                sketch1.apply(hdr.bridge.sketch1, hdr.bridge.hot_threshold, md.hot1);
                sketch2.apply(hdr.bridge.sketch2, hdr.bridge.hot_threshold, md.hot2);
                sketch3.apply(hdr.bridge.sketch3, hdr.bridge.hot_threshold, md.hot3);
                sketch4.apply(hdr.bridge.sketch4, hdr.bridge.hot_threshold, md.hot4);
            }
            is_hot.apply();
            frequency.apply();
            valid.apply();
            seq.apply();
            latest.apply();
            deleted.apply();
            vallen.apply();
            savedseq.apply();
            largevalueseq.apply();
            large_value_block.apply();
            case1.apply();
            access_mode.apply();
            VALUE_WORD(value1_lo, value1_hi, value1)
            VALUE_WORD(value2_lo, value2_hi, value2)
            VALUE_WORD(value3_lo, value3_hi, value3)
            VALUE_WORD(value4_lo, value4_hi, value4)
            VALUE_WORD(value5_lo, value5_hi, value5)
            VALUE_WORD(value6_lo, value6_hi, value6)
            VALUE_WORD(value7_lo, value7_hi, value7)
            VALUE_WORD(value8_lo, value8_hi, value8)
            VALUE_WORD(value9_lo, value9_hi, value9)
            VALUE_WORD(value10_lo, value10_hi, value10)
            VALUE_WORD(value11_lo, value11_hi, value11)
            VALUE_WORD(value12_lo, value12_hi, value12)
            VALUE_WORD(value13_lo, value13_hi, value13)
            VALUE_WORD(value14_lo, value14_hi, value14)
            VALUE_WORD(value15_lo, value15_hi, value15)
            VALUE_WORD(value16_lo, value16_hi, value16)
            if (decision.apply().hit) {
                hdr.seq.setValid();
                hdr.seq.seq = md.assigned_seq;
                if (md.deleted == 1) {
                    hdr.seq.stat = 0;
                } else {
                    hdr.seq.stat = 1;
                }
                hdr.seq.source = (bit<8>) md.is_hot;
            }
            value_headers.apply();
            answer_count.apply();
            if (eg_dprsr_md.mirror_type == 1) {
                eg_dprsr_md.drop_ctl = 1;
            }
        }
        lengths.apply();
        rewrite_addresses.apply();
        hdr.bridge.setInvalid();
        hdr.answer.setInvalid();
    }
}

control SwitchEgressDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
    Checksum() ipv4_checksum;

    apply {
        hdr.ipv4.hdr_checksum = ipv4_checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_len, hdr.ipv4.identification,
            hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
            hdr.ipv4.dst_addr});
        if (eg_dprsr_md.mirror_type == 1) {
            mirror.emit<answer_h>(md.session, {md.copy_origin, 0});
        }
        pkt.emit(hdr);
    }
}

Pipeline(
    SwitchIngressParser(),
    SwitchIngress(),
    SwitchIngressDeparser(),
    SwitchEgressParser(),
    SwitchEgress(),
    SwitchEgressDeparser()) pipe;

Switch(pipe) main;
