// Numbers of the key-value protocol and of the frames around it. Source: FarReach reference §1.2, §2.2.
#ifndef TURNTABLE_CONSTANTS_P4
#define TURNTABLE_CONSTANTS_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> IP_PROTOCOL_UDP = 17;

// Logical server i of a machine is UDP port 1152 + i, i < 128: one masked compare tells key-value traffic.
const bit<16> KV_PORT_BASE = 0x0480;
const bit<16> KV_PORT_MASK = 0xFF80;

// optype: the low nibble says what follows (1 value, 2 seq, 4 inswitch, 8 stat).
const bit<16> GETREQ = 0x0030;
const bit<16> PUTREQ = 0x0001;
const bit<16> DELREQ = 0x0040;
const bit<16> WARMUPREQ = 0x0000;
const bit<16> LOADREQ = 0x0310;
const bit<16> GETRES = 0x0009;
const bit<16> PUTRES = 0x0008;
const bit<16> DELRES = 0x0018;
const bit<16> WARMUPACK = 0x00d0;
const bit<16> LOADACK = 0x00e0;

// What the switch does with a packet, decided once from its optype.
typedef bit<8> traffic_t;
const traffic_t TRAFFIC_PLAIN = 0;    // no key-value packet: forwarded by its IPv4 destination
const traffic_t TRAFFIC_REQUEST = 1;  // to the server of its key
const traffic_t TRAFFIC_ANSWER = 2;   // to its client, as if from the first server
const traffic_t TRAFFIC_UNKNOWN = 3;  // key-value port, but no optype that may be here

// Why a packet was dropped: the key of the `drops` table, whose counters tell.
typedef bit<8> drop_reason_t;
const drop_reason_t DROP_NONE = 0;
const drop_reason_t DROP_NOT_IPV4 = 1;
const drop_reason_t DROP_NO_ROUTE = 2;
const drop_reason_t DROP_UNKNOWN_OPTYPE = 3;
const drop_reason_t DROP_NO_PARTITION = 4;

#endif
