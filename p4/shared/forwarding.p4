// IPv4 forwarding by destination, and the one place that drops.
#ifndef TURNTABLE_FORWARDING_P4
#define TURNTABLE_FORWARDING_P4

#include "constants.p4"
#include "headers.p4"
#include "sizes.p4"

control Ipv4Forwarding(
        inout ethernet_h ethernet,
        in ipv4_h ipv4,
        inout drop_reason_t drop_reason,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action forward(PortId_t port, bit<48> mac) {
        ig_tm_md.ucast_egress_port = port;
        ethernet.dst_addr = mac;
    }

    action no_route() {
        drop_reason = DROP_NO_ROUTE;
    }

    table ipv4_lpm {
        key = { ipv4.dst_addr : lpm @name("dst_addr"); }
        actions = { forward; no_route; }
        const default_action = no_route();
        size = MAX_HOSTS;
    }

    apply {
        ipv4_lpm.apply();
    }
}

control Drops(
        in drop_reason_t drop_reason,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) dropped;

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
        dropped.count();
    }

    action pass() {
        dropped.count();
    }

    table drops {
        key = { drop_reason : exact @name("reason"); }
        actions = { drop; pass; }
        const entries = {
            DROP_NONE : pass();
            DROP_NOT_IPV4 : drop();
            DROP_NO_ROUTE : drop();
            DROP_UNKNOWN_OPTYPE : drop();
            DROP_NO_PARTITION : drop();
        }
        const default_action = drop();
        counters = dropped;
        size = 8;
    }

    apply {
        drops.apply();
    }
}

#endif
