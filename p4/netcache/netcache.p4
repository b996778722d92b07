// NetCache: write-through caching in the switch (docs/kvcache.md §5, FarReach reference §4.2).
//
//    ingress: as FarReach's, without snapshots
//    egress:  parser -> valid, seq, sketch -> slot_seq, bloom_filter -> access -> frequency, vallen, values
//                       -> decision -> value_headers -> answer_source | reverse
//                    -> hot_report (the copy of a hot key's GET on its way to the agent)
//
// Stages on Tofino 1, 12 of 12, as the open Tofino compiler (9.13.4) places the registers of egress; a stage has four stateful ALUs:
//    0   valid, seq, sketch.row_2..3
//    1   slot_seq, sketch.row_0..1
//    2   bloom_filter.row_0..2
//    3   vallen, values.value_29..31
//    4   values.value_25..28, and so on, four words a stage
//    11  values.value_0, frequency
// Ingress takes stages 0 to 5.
// Needs --disable-parse-max-depth-limit: see shared/cache/frame_states.p4.
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
#include "../shared/cache/sketch.p4"
#include "slot_seq.p4"
#include "bloom_filter.p4"
#include "access.p4"
#include "../shared/cache/frequency.p4"
#include "../shared/cache/vallen.p4"
#include "../shared/cache/values.p4"
#include "decisions.p4"
#include "hot_report.p4"
#include "../shared/cache/value_headers.p4"
#include "../shared/cache/answer_source.p4"
#include "reverse.p4"
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
