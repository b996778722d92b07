// Which of the two filter tables a response's fingerprint belongs to: its client has drawn it.
#ifndef NETCLONE_FILTER_TABLE_P4
#define NETCLONE_FILTER_TABLE_P4

control FilterTable(in netclone_h netclone, inout ingress_metadata_t md) {
    action is(table_t filter_table) {
        md.filter_table = filter_table;
    }

    table filter_table {
        key = {
            netclone.clo: ternary @name("clo");
            netclone.tidx: ternary @name("tidx");
        }
        actions = {
            is;
        }
        const entries = {
            (NOT_CLONED, _): is(table_t.NONE);
            (_, 0): is(table_t.FIRST);
            (_, 1): is(table_t.SECOND);
        }
        const default_action = is(table_t.UNKNOWN);
        size = 4;
    }

    apply {
        filter_table.apply();
    }
}

#endif
