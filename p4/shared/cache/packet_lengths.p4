// Packets that reach registers have the lengths of their type: UDP's and IPv4's agree with each other and with `vallen`.
//
//    op 18, request 4                                   GET, DELETE        UDP 30
//    and vallen 2, value 8 n, shadow 2                  PUT                UDP 34 + 8 n
//    and seq 8, stat 4                                  fills, updates     UDP 46 + 8 n
#ifndef SHARED_CACHE_PACKET_LENGTHS_P4
#define SHARED_CACHE_PACKET_LENGTHS_P4

#define LENGTHS_OF_VALUE(N) \
            (operation_t.PUT, 54 + 8 * N, 34 + 8 * N, 8 * N - 7 .. 8 * N): right(); \
            (operation_t.FILL, 66 + 8 * N, 46 + 8 * N, 8 * N - 7 .. 8 * N): right(); \
            (operation_t.UPDATE, 66 + 8 * N, 46 + 8 * N, 8 * N - 7 .. 8 * N): right();

control PacketLengths(in ingress_headers_t hdr, inout ingress_metadata_t md) {
    action right() {
    }

    action wrong() {
        md.verdict = verdict_t.MALFORMED;
    }

    table packet_lengths {
        key = {
            md.operation: ternary @name("operation");
            hdr.ipv4.total_len: ternary @name("ipv4");
            hdr.udp.len: ternary @name("udp");
            hdr.vallen.vallen: range @name("vallen");
        }
        actions = {
            right;
            @defaultonly wrong;
        }
        const entries = {
            (operation_t.NONE, _, _, _): right();
            (operation_t.GET, 50, 30, _): right();
            (operation_t.DELETE, 50, 30, _): right();
            (operation_t.LARGE_PUT, _, _, _): right();
            (operation_t.PUT, 54, 34, 0 .. 0): right();
            (operation_t.FILL, 66, 46, 0 .. 0): right();
            (operation_t.FILL_DELETED, 66, 46, 0 .. 0): right();
            (operation_t.UPDATE, 66, 46, 0 .. 0): right();
            LENGTHS_OF_VALUE(1)
            LENGTHS_OF_VALUE(2)
            LENGTHS_OF_VALUE(3)
            LENGTHS_OF_VALUE(4)
            LENGTHS_OF_VALUE(5)
            LENGTHS_OF_VALUE(6)
            LENGTHS_OF_VALUE(7)
            LENGTHS_OF_VALUE(8)
            LENGTHS_OF_VALUE(9)
            LENGTHS_OF_VALUE(10)
            LENGTHS_OF_VALUE(11)
            LENGTHS_OF_VALUE(12)
            LENGTHS_OF_VALUE(13)
            LENGTHS_OF_VALUE(14)
            LENGTHS_OF_VALUE(15)
            LENGTHS_OF_VALUE(16)
        }
        const default_action = wrong();
        size = 64;
    }

    apply {
        packet_lengths.apply();
    }
}

#endif
