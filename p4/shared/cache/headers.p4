// Headers of the programs with a cache, in the order of the wire (docs/kvcache.md §3), and what stays inside the switch.
#ifndef SHARED_CACHE_HEADERS_P4
#define SHARED_CACHE_HEADERS_P4

header request_h {
    bit<32> id;  // chosen by whoever asks, echoed by whoever answers
}

// 0 to 128 bytes. In slots and in control frames DELETED says that the record is a delete.
header vallen_h {
    bit<16> vallen;
}

const bit<16> DELETED = 0x8000;

// 8 bytes of a value.
header value_h {
    bit<32> first;
    bit<32> second;
}

// A copy of the operation's type, so that the value may stand in front of what the type says.
header shadow_h {
    bit<16> optype;
}

header seq_h {
    bit<32> number;
    bit<32> token;  // of the snapshot; in GETREQ_NLATEST and its answers the cell that asked
}

header stat_h {
    bit<8> stat;   // 1: there is such a record, or the write is done
    bit<16> node;  // SWITCH_NODE, or the logical server
    bit<8> pad;
}

const bit<16> SWITCH_NODE = 0xFFFF;

// Where a part of a large value belongs.
header fraginfo_h {
    bit<16> client;
    bit<32> transmission;
    bit<16> index;
    bit<16> count;
}

// Behind Ethernet in frames between switch-agent and data plane.
header command_h {
    bit<8> operation;
    bit<8> valid;
    bit<16> egress_port;
    bit<16> slot;
    bit<32> frequency;
}

// Control operations; an answer has CONTROL_ANSWERED set.
enum bit<8> control_t {
    SET_VALID = 1,
    ADMIT = 2,
    LOAD = 3,
    CASE1 = 4,       // unasked: the record that a write has replaced
    HOT_REPORT = 5   // unasked: a key that many clients read
}

const bit<8> CONTROL_ANSWERED = 0x80;

// What egress shall do with a packet.
enum bit<8> operation_t {
    NONE = 0,  // nothing: it bypasses egress
    GET = 1,
    PUT = 2,
    DELETE = 3,
    LARGE_PUT = 4,     // the first fragment; the others bypass egress
    FILL = 5,          // FarReach: a server's answer to GETREQ_NLATEST
    FILL_DELETED = 6,
    UPDATE = 7,        // NetCache: a server's new value of a cached key
    SET_VALID = 9,     // control frames: their operation + 8
    ADMIT = 10,
    LOAD = 11
}

// The first byte of every packet in egress, which says what precedes the frame.
enum bit<8> kind_t {
    KEY_VALUE = 1,  // bridge
    CONTROL = 2,    // bridge
    FINISHED = 3,   // copy_h: the frame is ready to be sent
    REPORT = 4,     // FarReach, report_h: a CASE1 report at the CPU port, its client still without an answer
    REPORTED = 5,   // FarReach, report_h: a CASE1 report to be turned into the answer
    HOT = 6         // NetCache, copy_h: a GET to be turned into a hot report
}

// From ingress to egress.
header bridge_h {
    kind_t kind;
    operation_t operation;
    bit<1> is_cached;
    bit<1> is_sampled;
    bit<1> in_snapshot;
    @padding bit<3> _pad;
    MirrorId_t session;  // where the answer goes
    bit<16> slot;
    bit<16> key_hash;  // modulo SLOTS
    bit<16> hot_threshold;
    bit<32> token;
}

header copy_h {
    kind_t kind;
}

// In front of a CASE1 report: what the answer to its write needs.
header report_h {
    kind_t kind;
    @padding bit<6> _pad;
    MirrorId_t session;
    bit<16> optype;
    ipv4_addr_t client_addr;
    udp_port_t client_port;
    bit<32> number;
}

// Mirror sessions 2 and up are the clients'.
const MirrorId_t CPU_SESSION = 1;

// --- Ingress ----------------------------------------------------------------------------------------------------------

struct ingress_headers_t {
    bridge_h bridge;
    ethernet_h ethernet;
    command_h command;
    ipv4_h ipv4;
    udp_h udp;
    op_h op;
    request_h request;
    vallen_h vallen;
    fraginfo_h fraginfo;
}

struct ingress_metadata_t {
    direction_t direction;
    verdict_t verdict;
    operation_t operation;
    ipv4_addr_t client_addr;  // of whoever may get the switch's answer; 0: nobody
    bit<16> key_hash;
    bit<16> random;
    bool rewritten;  // addresses changed: the IPv4 checksum must follow
}

// --- Egress -----------------------------------------------------------------------------------------------------------

// A value of n times 8 bytes is in the last n of the 16, so that what follows it is always in the same place.
struct egress_headers_t {
    bridge_h bridge;
    copy_h copy;
    report_h report;
    ethernet_h ethernet;
    command_h command;
    ipv4_h ipv4;
    udp_h udp;
    op_h op;
    request_h request;
    vallen_h vallen;
    value_h value_0;
    value_h value_1;
    value_h value_2;
    value_h value_3;
    value_h value_4;
    value_h value_5;
    value_h value_6;
    value_h value_7;
    value_h value_8;
    value_h value_9;
    value_h value_10;
    value_h value_11;
    value_h value_12;
    value_h value_13;
    value_h value_14;
    value_h value_15;
    shadow_h shadow;
    seq_h seq;
    stat_h stat;
}

// Before a value comes out of its slot into them: what is written to a header that is not valid yet is lost.
#define VALUES_SET_VALID \
        hdr.value_0.setValid(); \
        hdr.value_1.setValid(); \
        hdr.value_2.setValid(); \
        hdr.value_3.setValid(); \
        hdr.value_4.setValid(); \
        hdr.value_5.setValid(); \
        hdr.value_6.setValid(); \
        hdr.value_7.setValid(); \
        hdr.value_8.setValid(); \
        hdr.value_9.setValid(); \
        hdr.value_10.setValid(); \
        hdr.value_11.setValid(); \
        hdr.value_12.setValid(); \
        hdr.value_13.setValid(); \
        hdr.value_14.setValid(); \
        hdr.value_15.setValid();

// What happens to a slot's length and value.
enum bit<8> access_t {
    NONE = 0,
    READ = 1,
    EXCHANGE = 2,        // the packet's goes in, the slot's comes out
    WRITE = 3,           // the packet's goes in, and stays in the packet
    EXCHANGE_DELETED = 4,  // the length says DELETED; the old record comes out
    WRITE_DELETED = 5
}

// What happens to the value in the packet.
enum bit<8> carries_t {
    UNCHANGED = 0,
    NOTHING = 1,
    RECORD = 2,  // as long as the slot's
    ALL = 3      // all 16, as in control frames
}

const MirrorType_t MIRROR_FINISHED = 1;  // with copy_h
const MirrorType_t MIRROR_REPORT = 2;    // with report_h

struct egress_metadata_t {
    bit<8> valid;       // of the slot; 0 without one
    bit<32> number;     // that this write got, or that the packet brought
    bit<32> cell;       // of slot_seq, before this packet
    bit<16> vallen;     // as in the slot
    access_t access;
    bit<32> taken;      // 1: the slot accepted the fill or update. As wide as the cell, since both come out of one stateful ALU
    bit<1> is_first;    // FarReach: the slot's first write since the snapshot's point
    bit<1> new_0;       // NetCache: hot, and not reported in this period
    bit<1> new_1;
    bit<1> new_2;
    bit<1> to_sender;   // NetCache: an acknowledgement
    bit<1> hot_0;
    bit<1> hot_1;
    bit<1> hot_2;
    bit<1> hot_3;
    carries_t carries;
    bit<1> to_client;   // addresses must be turned round
    kind_t copy_kind;
    MirrorId_t session;
    bit<8> outcome;
}

#endif
