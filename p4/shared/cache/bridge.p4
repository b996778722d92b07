// Hands a packet over to egress, or past it. A server's answer goes to the egress of the port that it came from, where its key's registers are; egress
// sends it on to its client.
#ifndef SHARED_CACHE_BRIDGE_P4
#define SHARED_CACHE_BRIDGE_P4

control Bridge(
        inout ingress_headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action past_egress() {
        hdr.bridge.setInvalid();
        ig_tm_md.bypass_egress = 1;
    }

    action control_frame() {
        hdr.bridge.operation = md.operation;
    }

    action request() {
        hdr.bridge.operation = md.operation;
        hdr.bridge.key_hash = 1w0 ++ md.key_hash[14:0];
    }

    action answer() {
        request();
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
    }

    table bridge {
        key = {
            md.direction: ternary @name("direction");
            md.operation: ternary @name("operation");
        }
        actions = {
            past_egress;
            request;
            answer;
            control_frame;
        }
        const entries = {
            (_, operation_t.NONE): past_egress();
            (direction_t.REQUEST, _): request();
            (direction_t.ANSWER, _): answer();
        }
        const default_action = control_frame();
        size = 4;
    }

    apply {
        bridge.apply();
    }
}

#endif
