// Numbers of the wire formats. Names follow docs/architecture.md §3 and the FarReach reference §2.
#ifndef SHARED_CONSTANTS_P4
#define SHARED_CONSTANTS_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> IP_PROTOCOL_UDP = 17;
const bit<4> IPV4_IHL_WITHOUT_OPTIONS = 5;

// UDP ports of logical servers: 1152 + index, index below 128. Requests go to such a port, answers come from one.
#define KEY_VALUE_PORTS 16w0x0480 &&& 16w0xFF80

// Operation types. The low nibble says which headers follow: 1 value, 2 sequence number, 4 in-switch, 8 status.
enum bit<16> optype_t {
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
    LOADREQ = 0x0310
}

#endif
