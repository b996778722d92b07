// The mirror session of the port that leads to a client: an answer of the switch leaves as a copy made by this session.
#ifndef SHARED_CACHE_CLIENT_SESSION_P4
#define SHARED_CACHE_CLIENT_SESSION_P4

control ClientSession(inout ingress_headers_t hdr, inout ingress_metadata_t md) {
    action answer_by(MirrorId_t session) {
        hdr.bridge.session = session;
    }

    action no_session() {
        md.verdict = verdict_t.NO_SESSION;
    }

    table client_session {
        key = {
            md.client_addr: exact @name("client_addr");
        }
        actions = {
            answer_by;
            @defaultonly no_session;
        }
        const default_action = no_session();
        size = CLIENT_SESSION_ENTRIES;
    }

    apply {
        client_session.apply();
    }
}

#endif
