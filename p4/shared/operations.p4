// Lets known operations pass: a request must be a request type, an answer an answer type.
#ifndef SHARED_OPERATIONS_P4
#define SHARED_OPERATIONS_P4

control Operations(in op_h op, inout ingress_metadata_t md) {
    action known() {
    }

    action unknown() {
        md.verdict = verdict_t.UNKNOWN_OPERATION;
    }

    table operation {
        key = {
            md.direction: exact @name("direction");
            op.optype: exact @name("optype");
        }
        actions = {
            known;
            @defaultonly unknown;
        }
        const entries = {
            (direction_t.REQUEST, optype_t.GETREQ): known();
            (direction_t.REQUEST, optype_t.PUTREQ): known();
            (direction_t.REQUEST, optype_t.DELREQ): known();
            // Loading and warming up, which NoCache's servers answer themselves.
            (direction_t.REQUEST, optype_t.WARMUPREQ): known();
            (direction_t.REQUEST, optype_t.LOADREQ): known();
            (direction_t.REQUEST, optype_t.PUTREQ_LARGEVALUE): known();

            (direction_t.ANSWER, optype_t.GETRES): known();
            (direction_t.ANSWER, optype_t.PUTRES): known();
            (direction_t.ANSWER, optype_t.DELRES): known();
            (direction_t.ANSWER, optype_t.WARMUPACK): known();
            (direction_t.ANSWER, optype_t.LOADACK): known();
            (direction_t.ANSWER, optype_t.GETRES_LARGEVALUE): known();
        }
        const default_action = unknown();
        size = OPERATION_ENTRIES;
    }

    apply {
        operation.apply();
    }
}

#endif
