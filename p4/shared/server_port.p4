// Answers are taken from the ports in this table alone, which lead to servers. An answer from any other port pretends to be a server's: a client could
// fill a slot with it, or answer another client.
#ifndef SHARED_SERVER_PORT_P4
#define SHARED_SERVER_PORT_P4

control ServerPort(inout ingress_metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md) {
    action from_server() {
    }

    action forged() {
        md.verdict = verdict_t.FORGED;
    }

    table server_port {
        key = {
            ig_intr_md.ingress_port: exact @name("ingress_port");
        }
        actions = {
            from_server;
            @defaultonly forged;
        }
        const default_action = forged();
        size = SERVER_PORT_ENTRIES;
    }

    apply {
        server_port.apply();
    }
}

#endif
