// The egress port's queue for a packet, by its DSCP. Homa's hosts carry their priority in the top three of the six bits, as HomaModule does; then
// the entries are DSCP 8 * p to queue p. A queue has three bits here, so that no entry can name one that a port does not have.
#ifndef PRIORITY_DSCP_TO_QUEUE_P4
#define PRIORITY_DSCP_TO_QUEUE_P4

control DscpToQueue(in ipv4_h ipv4, inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action to_queue(queue_t queue) {
        ig_tm_md.qid = 2w0 ++ queue;
    }

    table dscp_to_queue {
        key = {
            ipv4.diffserv[7:2]: exact @name("dscp");
        }
        actions = {
            to_queue;
        }
        default_action = to_queue(0);
        size = DSCPS;
    }

    apply {
        dscp_to_queue.apply();
    }
}

#endif
