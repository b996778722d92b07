// What a run switches on or off: data of the default action.
#ifndef NETCLONE_SETTINGS_P4
#define NETCLONE_SETTINGS_P4

control Settings(inout ingress_metadata_t md) {
    // racksched: a request whose first server is busy goes to the one with the shorter queue. filter: slower responses are dropped.
    action set_flags(bit<1> racksched, bit<1> filter) {
        md.racksched = racksched;
        md.filter = filter;
    }

    table settings {
        actions = {
            set_flags;
        }
        default_action = set_flags(0, 1);
        size = 1;
    }

    apply {
        settings.apply();
    }
}

#endif
