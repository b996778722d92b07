// A CASE1 report after its first copy: at the CPU port it leaves for the agent, and a copy goes on to become the answer of the write.
#ifndef FARREACH_REPORTS_P4
#define FARREACH_REPORTS_P4

control Reports(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    action copy_for_client() {
        hdr.report.kind = kind_t.REPORTED;
        md.session = hdr.report.session;
        eg_dprsr_md.mirror_type = MIRROR_REPORT;
    }

    action become_answer() {
        hdr.ethernet.ether_type = ETHERTYPE_IPV4;
        hdr.command.setInvalid();
        hdr.ipv4.setValid();
        hdr.ipv4.version = 4;
        hdr.ipv4.ihl = IPV4_IHL_WITHOUT_OPTIONS;
        hdr.ipv4.diffserv = 0;
        hdr.ipv4.total_len = 64;
        hdr.ipv4.identification = 0;
        hdr.ipv4.flags = 2;  // don't fragment
        hdr.ipv4.frag_offset = 0;
        hdr.ipv4.ttl = 64;
        hdr.ipv4.protocol = IP_PROTOCOL_UDP;
        hdr.ipv4.src_addr = hdr.report.client_addr;
        hdr.udp.setValid();
        hdr.udp.src_port = hdr.report.client_port;
        hdr.udp.len = 44;
        hdr.op.optype = hdr.report.optype;
        hdr.shadow.setValid();
        hdr.shadow.optype = hdr.report.optype;
        hdr.seq.number = hdr.report.number;
        hdr.seq.token = 0;
        hdr.stat.setValid();
        hdr.stat.stat = 1;
        hdr.stat.node = SWITCH_NODE;
        hdr.stat.pad = 0;
        md.carries = carries_t.NOTHING;
        md.to_client = 1;
    }

    table report {
        key = {
            hdr.report.kind: ternary @name("kind");
        }
        actions = {
            copy_for_client;
            become_answer;
            @defaultonly NoAction;
        }
        const entries = {
            kind_t.REPORT: copy_for_client();
            kind_t.REPORTED: become_answer();
        }
        const default_action = NoAction();
        size = 2;
    }

    apply {
        report.apply();
    }
}

#endif
