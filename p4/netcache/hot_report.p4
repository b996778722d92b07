// The copy of a hot key's GET becomes a control frame at the CPU port.
#ifndef NETCACHE_HOT_REPORT_P4
#define NETCACHE_HOT_REPORT_P4

#define NO_VALUE(VALUE) \
        hdr.VALUE.setValid(); \
        hdr.VALUE.first = 0; \
        hdr.VALUE.second = 0;

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
        NO_VALUE(value_0)
        NO_VALUE(value_1)
        NO_VALUE(value_2)
        NO_VALUE(value_3)
        NO_VALUE(value_4)
        NO_VALUE(value_5)
        NO_VALUE(value_6)
        NO_VALUE(value_7)
        NO_VALUE(value_8)
        NO_VALUE(value_9)
        NO_VALUE(value_10)
        NO_VALUE(value_11)
        NO_VALUE(value_12)
        NO_VALUE(value_13)
        NO_VALUE(value_14)
        NO_VALUE(value_15)
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
