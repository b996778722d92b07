// Numbers of the wire formats. Names follow docs/architecture.md §3 and the FarReach reference §2.
#ifndef SHARED_CONSTANTS_P4
#define SHARED_CONSTANTS_P4

#include "network.p4"

const bit<16> ETHERTYPE_CONTROL = 0x88B5;  // frames between switch-agent and data plane (docs/kvcache.md §3)

// UDP ports of logical servers: 1152 + index, index below 128. Requests go to such a port, answers come from one.
#define KEY_VALUE_PORTS 16w0x0480 &&& 16w0xFF80

// Operation types. The low nibble says which headers follow: 1 value, 2 sequence number, 4 in-switch, 8 status.
enum bit<16> optype_t {
    // Clients and servers, all programs.
    WARMUPREQ = 0x0000,
    PUTREQ = 0x0001,
    PUTRES = 0x0008,
    GETRES = 0x0009,
    DELRES = 0x0018,
    GETREQ = 0x0030,
    DELREQ = 0x0040,
    WARMUPACK = 0x00d0,
    LOADACK = 0x00e0,
    PUTREQ_LARGEVALUE = 0x02d0,
    GETRES_LARGEVALUE = 0x0300,
    LOADREQ = 0x0310,

    // Programs with a cache: writes with their number, and answers with the record's.
    PUTREQ_SEQ = 0x0003,
    DELREQ_SEQ = 0x0002,
    PUTREQ_LARGEVALUE_SEQ = 0x0032,
    PUTRES_SEQ = 0x000a,
    DELRES_SEQ = 0x001a,
    GETRES_SEQ = 0x006b,
    GETRES_LARGEVALUE_SEQ = 0x0350,

    // FarReach.
    GETRES_LATEST_SEQ = 0x000b,
    GETRES_DELETED_SEQ = 0x001b,
    GETREQ_POP = 0x0050,
    GETREQ_NLATEST = 0x00a2,
    GETREQ_BEINGEVICTED_RECORD = 0x007b,
    GETREQ_LARGEVALUEBLOCK_RECORD = 0x008b,
    PUTREQ_POP_SEQ = 0x0013,
    DELREQ_SEQ_CASE3 = 0x0012,
    PUTREQ_SEQ_CASE3 = 0x0023,
    PUTREQ_POP_SEQ_CASE3 = 0x0033,
    PUTREQ_LARGEVALUE_SEQ_CASE3 = 0x0052,
    PUTREQ_SEQ_BEINGEVICTED = 0x0053,
    DELREQ_SEQ_BEINGEVICTED = 0x0062,
    PUTREQ_SEQ_CASE3_BEINGEVICTED = 0x0063,
    DELREQ_SEQ_CASE3_BEINGEVICTED = 0x0072,
    PUTREQ_LARGEVALUE_SEQ_BEINGEVICTED = 0x0082,
    PUTREQ_LARGEVALUE_SEQ_CASE3_BEINGEVICTED = 0x0092,

    // NetCache.
    DELREQ_SEQ_CACHED = 0x0022,
    PUTREQ_LARGEVALUE_SEQ_CACHED = 0x0042,
    PUTREQ_SEQ_CACHED = 0x0043,
    VALUEUPDATE = 0x003b,
    VALUEUPDATE_ACK = 0x0190
}

#endif
