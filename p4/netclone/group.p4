// The two servers that a request's client has drawn: a group is an ordered pair. Its id is also that of the multicast group that leads to the first
// server's port and to recirculation.
#ifndef NETCLONE_GROUP_P4
#define NETCLONE_GROUP_P4

control Group(inout ingress_headers_t hdr, inout ingress_metadata_t md) {
    action pair(server_t first, server_t second) {
        md.first = first;
        md.second = second;
        hdr.netclone.clo = NOT_CLONED;
        md.rewritten = true;
    }

    action unknown() {
        md.verdict = verdict_t.UNKNOWN_GROUP;
    }

    table group {
        key = {
            hdr.netclone.grp: exact @name("group");
        }
        actions = {
            pair;
            @defaultonly unknown;
        }
        const default_action = unknown();
        size = GROUP_ENTRIES;
    }

    apply {
        group.apply();
    }
}

#endif
