// What to do with a key-value packet, from its optype.
#ifndef TURNTABLE_NOCACHE_CLASSIFY_P4
#define TURNTABLE_NOCACHE_CLASSIFY_P4

#include "../shared/constants.p4"

control Classify(in bit<16> optype, inout traffic_t traffic) {
    action set_traffic(traffic_t value) {
        traffic = value;
    }

    table classify {
        key = { optype : exact @name("optype"); }
        actions = { set_traffic; }
        const entries = {
            GETREQ : set_traffic(TRAFFIC_REQUEST);
            PUTREQ : set_traffic(TRAFFIC_REQUEST);
            DELREQ : set_traffic(TRAFFIC_REQUEST);
            WARMUPREQ : set_traffic(TRAFFIC_REQUEST);
            LOADREQ : set_traffic(TRAFFIC_REQUEST);
            GETRES : set_traffic(TRAFFIC_ANSWER);
            PUTRES : set_traffic(TRAFFIC_ANSWER);
            DELRES : set_traffic(TRAFFIC_ANSWER);
            WARMUPACK : set_traffic(TRAFFIC_ANSWER);
            LOADACK : set_traffic(TRAFFIC_ANSWER);
        }
        const default_action = set_traffic(TRAFFIC_UNKNOWN);
        size = 16;
    }

    apply {
        classify.apply();
    }
}

#endif
