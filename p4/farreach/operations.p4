// What egress shall do with a packet, by its type; types that FarReach does not know are dropped.
#ifndef FARREACH_OPERATIONS_P4
#define FARREACH_OPERATIONS_P4

control Operations(in ingress_headers_t hdr, inout ingress_metadata_t md) {
    action request(operation_t operation) {
        md.operation = operation;
        md.client_addr = hdr.ipv4.src_addr;
    }

    action answer() {
    }

    action fill(operation_t operation) {
        md.operation = operation;
        md.client_addr = hdr.ipv4.dst_addr;
    }

    action unknown() {
        md.verdict = verdict_t.UNKNOWN_OPERATION;
    }

    table operation {
        key = {
            md.direction: ternary @name("direction");
            hdr.op.optype: ternary @name("optype");
            hdr.fraginfo.index: ternary @name("fragment");
        }
        actions = {
            request;
            answer;
            fill;
            @defaultonly unknown;
        }
        const entries = {
            (direction_t.REQUEST, optype_t.GETREQ, _): request(operation_t.GET);
            (direction_t.REQUEST, optype_t.PUTREQ, _): request(operation_t.PUT);
            (direction_t.REQUEST, optype_t.DELREQ, _): request(operation_t.DELETE);
            (direction_t.REQUEST, optype_t.PUTREQ_LARGEVALUE, 0): request(operation_t.LARGE_PUT);
            (direction_t.REQUEST, optype_t.PUTREQ_LARGEVALUE, _): request(operation_t.NONE);

            (direction_t.ANSWER, optype_t.GETRES_LATEST_SEQ, _): fill(operation_t.FILL);
            (direction_t.ANSWER, optype_t.GETRES_DELETED_SEQ, _): fill(operation_t.FILL_DELETED);
            (direction_t.ANSWER, optype_t.GETRES_SEQ, _): answer();
            (direction_t.ANSWER, optype_t.PUTRES_SEQ, _): answer();
            (direction_t.ANSWER, optype_t.DELRES_SEQ, _): answer();
            (direction_t.ANSWER, optype_t.GETRES_LARGEVALUE_SEQ, _): answer();
        }
        const default_action = unknown();
        size = OPERATION_ENTRIES;
    }

    apply {
        operation.apply();
    }
}

#endif
