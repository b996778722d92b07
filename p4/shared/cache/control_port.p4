// Control frames are taken from the ports in this table alone, which lead to the switch's own agent. They go through the egress port that
// they name, the one of the server that the slot's key belongs to, and so behind all earlier packets of that key.
#ifndef SHARED_CACHE_CONTROL_PORT_P4
#define SHARED_CACHE_CONTROL_PORT_P4

control ControlPort(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action from_agent() {
        hdr.bridge.kind = kind_t.CONTROL;
        hdr.bridge.is_cached = 1;
        hdr.bridge.slot = hdr.command.slot;
        hdr.bridge.session = CPU_SESSION;
        ig_tm_md.ucast_egress_port = hdr.command.egress_port[8:0];
        md.verdict = verdict_t.FORWARDED;
    }

    action forged() {
        md.verdict = verdict_t.FORGED;
    }

    table control_port {
        key = {
            ig_intr_md.ingress_port: exact @name("ingress_port");
            hdr.command.slot[15:15]: exact @name("beyond_slots");  // 0
        }
        actions = {
            from_agent;
            @defaultonly forged;
        }
        const default_action = forged();
        size = CONTROL_PORT_ENTRIES;
    }

    action operate(operation_t operation) {
        md.operation = operation;
    }

    table control_operation {
        key = {
            hdr.command.operation: exact @name("operation");
        }
        actions = {
            operate;
            @defaultonly forged;
        }
        const entries = {
            control_t.SET_VALID: operate(operation_t.SET_VALID);
            control_t.ADMIT: operate(operation_t.ADMIT);
            control_t.LOAD: operate(operation_t.LOAD);
        }
        const default_action = forged();
        size = 4;
    }

    apply {
        control_port.apply();
        control_operation.apply();
    }
}

#endif
