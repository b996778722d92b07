// Whether a snapshot is being taken, and its token: the default action, which the control plane sets at the snapshot's point. Between snapshots
// it also tells a new agent whether the switch serves or has been started and not restored yet (docs/kvcache.md §9): no_snapshot is there from the
// start, between_snapshots since the switch has had what it must have. To packets they are the same.
#ifndef FARREACH_SNAPSHOT_P4
#define FARREACH_SNAPSHOT_P4

control Snapshot(inout ingress_headers_t hdr) {
    action no_snapshot() {
    }

    action between_snapshots() {
    }

    action in_snapshot(bit<32> token) {
        hdr.bridge.in_snapshot = 1;
        hdr.bridge.token = token;
    }

    table snapshot {
        actions = {
            no_snapshot;
            between_snapshots;
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
