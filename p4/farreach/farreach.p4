// FarReach: write-back caching in the switch (docs/kvcache.md §4, FarReach reference §3).
//
//    ingress: parser -> control_port ------------------------------------------------------> bridge -> drops
//                    -> operation -> cache_lookup -> client_session -> packet_lengths
//                       -> request_partition | answer_partition -> forwarding -------------^
//    egress:  parser -> valid, seq, frequency, sketch -> slot_seq, case1 -> access -> vallen, values
//                       -> decision -> value_headers -> answer_source
//                    -> report (a CASE1 report on its way to the agent, then to the client)
//
// Stages on Tofino 1, 12 of 12, as the open Tofino compiler (9.13.4) places the registers of egress; a stage has four stateful ALUs:
//    0   valid, seq, sketch.row_2..3
//    1   slot_seq, frequency, sketch.row_0..1
//    2   case1
//    3   vallen, values.value_29..31
//    4   values.value_25..28, and so on, four words a stage
//    11  values.value_0
// Ingress takes stages 0 to 7. Needs --disable-parse-max-depth-limit: see shared/cache/frame_states.p4.
#include <core.p4>
#include <tna.p4>

#include "../shared/constants.p4"
#include "../shared/sizes.p4"
#include "../shared/headers.p4"
#include "../shared/cache/headers.p4"
#include "../shared/cache/ingress_parser.p4"
#include "../shared/cache/control_port.p4"
#include "operations.p4"
#include "../shared/cache/packet_lengths.p4"
#include "../shared/server_port.p4"
#include "../shared/key_hash.p4"
#include "../shared/cache/cache_lookup.p4"
#include "../shared/cache/sampling.p4"
#include "../shared/cache/hot_threshold.p4"
#include "snapshot.p4"
#include "../shared/cache/client_session.p4"
#include "../shared/request_partition.p4"
#include "../shared/answer_partition.p4"
#include "../shared/forwarding.p4"
#include "../shared/cache/bridge.p4"
#include "../shared/drops.p4"
#include "ingress.p4"
#include "../shared/ingress_deparser.p4"

#include "../shared/cache/outcome_numbers.p4"
#include "../shared/cache/outcomes.p4"
#include "egress_parser.p4"
#include "../shared/cache/valid.p4"
#include "../shared/cache/numbers.p4"
#include "../shared/cache/frequency.p4"
#include "../shared/cache/sketch.p4"
#include "slot_seq.p4"
#include "case1.p4"
#include "access.p4"
#include "../shared/cache/vallen.p4"
#include "../shared/cache/values.p4"
#include "decisions.p4"
#include "reports.p4"
#include "../shared/cache/value_headers.p4"
#include "../shared/cache/answer_source.p4"
#include "egress.p4"
#include "../shared/cache/egress_deparser.p4"

Pipeline(
    SwitchIngressParser(),
    SwitchIngress(),
    SwitchIngressDeparser(),
    SwitchEgressParser(),
    SwitchEgress(),
    SwitchEgressDeparser()
) pipe;

Switch(pipe) main;
