// Whether a snapshot is being taken, and its token: the default action, which the control plane sets at the snapshot's point.
#ifndef FARREACH_SNAPSHOT_P4
#define FARREACH_SNAPSHOT_P4

control Snapshot(inout ingress_headers_t hdr) {
    action no_snapshot() {
    }

    action in_snapshot(bit<32> token) {
        hdr.bridge.in_snapshot = 1;
        hdr.bridge.token = token;
    }

    table snapshot {
        actions = {
            no_snapshot;
            in_snapshot;
        }
        default_action = no_snapshot();
        size = 1;
    }

    apply {
        snapshot.apply();
    }
}

#endif
