// The copy of a hot key's GET becomes a control frame at the CPU port.
#ifndef NETCACHE_HOT_REPORT_P4
#define NETCACHE_HOT_REPORT_P4

control HotReport(inout egress_headers_t hdr, inout egress_metadata_t md) {
    action become_report() {
        hdr.ethernet.ether_type = ETHERTYPE_CONTROL;
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.command.setValid();
        hdr.command.operation = control_t.HOT_REPORT;
        hdr.command.valid = 0;
        hdr.command.egress_port = 0;
        hdr.command.slot = 0;
        hdr.command.frequency = 0;
        hdr.op.optype = 0;
        hdr.seq.setValid();
        hdr.seq.number = 0;
        hdr.seq.token = 0;
        md.vallen = 0;
        md.carries = carries_t.ALL;
    }

    table hot_report {
        key = {
            hdr.copy.kind: ternary @name("kind");
        }
        actions = {
            become_report;
            @defaultonly NoAction;
        }
        const entries = {
            kind_t.HOT: become_report();
        }
        const default_action = NoAction();
        size = 2;
    }

    apply {
        hot_report.apply();
    }
}

#endif
