// Responses are believed only from the port of the server that they name. Any other pretends to be a server's: it could make a busy server look idle,
// or put fingerprints into the filter for which a client's only response is dropped.
#ifndef NETCLONE_SERVER_PORT_P4
#define NETCLONE_SERVER_PORT_P4

control ServerPort(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md) {
    action from_server(server_t server) {
        md.first = server;
        md.second = server;
        hdr.udp.checksum = 0;
    }

    action forged() {
        md.verdict = verdict_t.FORGED;
    }

    table server_port {
        key = {
            ig_intr_md.ingress_port: exact @name("ingress_port");
            hdr.netclone.sid: exact @name("server");
        }
        actions = {
            from_server;
            @defaultonly forged;
        }
        const default_action = forged();
        size = MAX_SERVERS;
    }

    apply {
        server_port.apply();
    }
}

#endif
