// The number of sampled requests in a clear period that makes a key hot: data of the default action.
#ifndef SHARED_CACHE_HOT_THRESHOLD_P4
#define SHARED_CACHE_HOT_THRESHOLD_P4

control HotThreshold(inout ingress_headers_t hdr) {
    action set_hot_threshold(bit<16> threshold) {
        hdr.bridge.hot_threshold = threshold;
    }

    table hot_threshold {
        actions = {
            set_hot_threshold;
        }
        default_action = set_hot_threshold(0xFFFF);
        size = 1;
    }

    apply {
        hot_threshold.apply();
    }
}

#endif
