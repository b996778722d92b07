// NetClone: requests that two idle servers answer, of which the client gets the faster answer (NetClone reference §2 to §4).
//
//    parser -> sequence, group --> state -> shadow -> destination -----------> outcomes -> deparser
//              came_round ---------------------------^ (a clone, from recirculation)
//              server_port, filter_table -> state, shadow, filter_0 | filter_1
//                (a response)               forwarding (and what is not NetClone's) --^
//
// Stages on Tofino 1: 4 of 12, as the open Tofino compiler (9.13.4) places it; a stage has room for one filter table:
//    0   sequence, settings, group (exact, 256 entries), came_round, server_port (exact, 16), filter_table (TCAM, 4)
//    1   state, filter_0
//    2   shadow, filter_1, ipv4_lpm (TCAM, 1,024 entries)
//    3   destination (TCAM, 64 entries), outcomes (TCAM, 32), the condition of the checksum update
// 5 stateful ALUs. No block of egress has anything to do. All addresses and ports come from the control plane.
#include <core.p4>
#include <tna.p4>

#include "../shared/network.p4"
#include "../shared/sizes.p4"
#include "sizes.p4"
#include "headers.p4"
#include "ingress_parser.p4"
#include "settings.p4"
#include "sequence.p4"
#include "group.p4"
#include "came_round.p4"
#include "server_port.p4"
#include "filter_table.p4"
#include "loads.p4"
#include "filter.p4"
#include "../shared/forwarding.p4"
#include "destination.p4"
#include "outcome_numbers.p4"
#include "outcomes.p4"
#include "ingress.p4"
#include "../shared/ingress_deparser.p4"
#include "../shared/no_egress.p4"

// In a container with other fields these would be written in a stage after those.
@pa_solitary("ingress", "ig_intr_md_for_dprsr.drop_ctl")
@pa_solitary("ingress", "ig_intr_md_for_tm.bypass_egress")
@pa_solitary("ingress", "md.rewritten")
Pipeline(
    SwitchIngressParser(),
    SwitchIngress(),
    SwitchIngressDeparser(),
    NoEgressParser(),
    NoEgress(),
    NoEgressDeparser()
) pipe;

Switch(pipe) main;
