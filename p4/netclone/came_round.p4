// A clone that comes from recirculation goes to the server that its original's group has second.
#ifndef NETCLONE_CAME_ROUND_P4
#define NETCLONE_CAME_ROUND_P4

// Of a pipe's 128 ports, 68 to 71 are those of recirculation.
const bit<5> RECIRCULATION_PORTS = 17;

control CameRound(inout ingress_headers_t hdr, inout ingress_metadata_t md) {
    action to_second() {
        md.kind = kind_t.CLONE;
        md.first = hdr.netclone.sid[7:0];
        hdr.netclone.clo = CLONE;
        md.rewritten = true;
    }

    table came_round {
        actions = {
            to_second;
        }
        const default_action = to_second();
        size = 1;
    }

    apply {
        came_round.apply();
    }
}

#endif
