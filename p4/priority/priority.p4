// Priority: a plain IPv4 switch whose queues are chosen by DSCP. Transports such as Homa mark their packets with a priority; of those that wait
// for a port, the one in the highest queue leaves first (Homa reference §2).
//
//    parser -> dscp_to_queue, forwarding -> queue_counter, outcomes -> deparser
//
// Which DSCP goes to which queue is the control plane's matter, and so is that the queues are served by strict priority: the traffic manager's
// settings are no part of a program. A DSCP that nobody described goes to queue 0, the lowest. No registers; egress is bypassed.
#include <core.p4>
#include <tna.p4>

#include "../shared/network.p4"
#include "../shared/sizes.p4"
#include "sizes.p4"
#include "headers.p4"
#include "ingress_parser.p4"
#include "dscp_to_queue.p4"
#include "../shared/forwarding.p4"
#include "queue_counter.p4"
#include "outcome_numbers.p4"
#include "outcomes.p4"
#include "ingress.p4"
#include "ingress_deparser.p4"
#include "../shared/no_egress.p4"

Pipeline(
    SwitchIngressParser(),
    SwitchIngress(),
    SwitchIngressDeparser(),
    NoEgressParser(),
    NoEgress(),
    NoEgressDeparser()
) pipe;

Switch(pipe) main;
