// Which of the value's headers leave with the packet, and the lengths of what carries a record of a slot: UDP 46 bytes and 8 for each header. Where
// a value came out of its slot, all of them are valid here (VALUES_SET_VALID), and those before the record's length go.
#ifndef SHARED_CACHE_VALUE_HEADERS_P4
#define SHARED_CACHE_VALUE_HEADERS_P4

#define RECORD_OF(ACTION, N, REMOVAL) \
    action ACTION() { \
        hdr.vallen.setValid(); \
        hdr.vallen.vallen = md.vallen; \
        hdr.stat.stat = 1; \
        hdr.ipv4.total_len = 66 + 8 * N; \
        hdr.udp.len = 46 + 8 * N; \
        REMOVAL \
    }

#define WITHOUT_FIRST_1 hdr.value_0.setInvalid();
#define WITHOUT_FIRST_2 WITHOUT_FIRST_1 hdr.value_1.setInvalid();
#define WITHOUT_FIRST_3 WITHOUT_FIRST_2 hdr.value_2.setInvalid();
#define WITHOUT_FIRST_4 WITHOUT_FIRST_3 hdr.value_3.setInvalid();
#define WITHOUT_FIRST_5 WITHOUT_FIRST_4 hdr.value_4.setInvalid();
#define WITHOUT_FIRST_6 WITHOUT_FIRST_5 hdr.value_5.setInvalid();
#define WITHOUT_FIRST_7 WITHOUT_FIRST_6 hdr.value_6.setInvalid();
#define WITHOUT_FIRST_8 WITHOUT_FIRST_7 hdr.value_7.setInvalid();
#define WITHOUT_FIRST_9 WITHOUT_FIRST_8 hdr.value_8.setInvalid();
#define WITHOUT_FIRST_10 WITHOUT_FIRST_9 hdr.value_9.setInvalid();
#define WITHOUT_FIRST_11 WITHOUT_FIRST_10 hdr.value_10.setInvalid();
#define WITHOUT_FIRST_12 WITHOUT_FIRST_11 hdr.value_11.setInvalid();
#define WITHOUT_FIRST_13 WITHOUT_FIRST_12 hdr.value_12.setInvalid();
#define WITHOUT_FIRST_14 WITHOUT_FIRST_13 hdr.value_13.setInvalid();
#define WITHOUT_FIRST_15 WITHOUT_FIRST_14 hdr.value_14.setInvalid();
#define WITHOUT_FIRST_16 WITHOUT_FIRST_15 hdr.value_15.setInvalid();

control ValueHeaders(inout egress_headers_t hdr, in egress_metadata_t md) {
    RECORD_OF(record_0, 0, WITHOUT_FIRST_16)
    RECORD_OF(record_1, 1, WITHOUT_FIRST_15)
    RECORD_OF(record_2, 2, WITHOUT_FIRST_14)
    RECORD_OF(record_3, 3, WITHOUT_FIRST_13)
    RECORD_OF(record_4, 4, WITHOUT_FIRST_12)
    RECORD_OF(record_5, 5, WITHOUT_FIRST_11)
    RECORD_OF(record_6, 6, WITHOUT_FIRST_10)
    RECORD_OF(record_7, 7, WITHOUT_FIRST_9)
    RECORD_OF(record_8, 8, WITHOUT_FIRST_8)
    RECORD_OF(record_9, 9, WITHOUT_FIRST_7)
    RECORD_OF(record_10, 10, WITHOUT_FIRST_6)
    RECORD_OF(record_11, 11, WITHOUT_FIRST_5)
    RECORD_OF(record_12, 12, WITHOUT_FIRST_4)
    RECORD_OF(record_13, 13, WITHOUT_FIRST_3)
    RECORD_OF(record_14, 14, WITHOUT_FIRST_2)
    RECORD_OF(record_15, 15, WITHOUT_FIRST_1)
    RECORD_OF(record_16, 16, )

    action record_deleted() {
        hdr.vallen.setValid();
        hdr.vallen.vallen = 0;
        hdr.stat.stat = 0;
        hdr.ipv4.total_len = 66;
        hdr.udp.len = 46;
        WITHOUT_FIRST_16
    }

    action all() {
        hdr.vallen.setValid();
        hdr.vallen.vallen = md.vallen;
    }

    action nothing() {
        hdr.vallen.setInvalid();
        WITHOUT_FIRST_16
    }

    table value_headers {
        key = {
            md.carries: exact @name("carries");
            md.vallen: range @name("vallen");
        }
        actions = {
            record_0;
            record_1;
            record_2;
            record_3;
            record_4;
            record_5;
            record_6;
            record_7;
            record_8;
            record_9;
            record_10;
            record_11;
            record_12;
            record_13;
            record_14;
            record_15;
            record_16;
            record_deleted;
            all;
            nothing;
            @defaultonly NoAction;
        }
        const entries = {
            (carries_t.RECORD, 0 .. 0): record_0();
            (carries_t.RECORD, 1 .. 8): record_1();
            (carries_t.RECORD, 9 .. 16): record_2();
            (carries_t.RECORD, 17 .. 24): record_3();
            (carries_t.RECORD, 25 .. 32): record_4();
            (carries_t.RECORD, 33 .. 40): record_5();
            (carries_t.RECORD, 41 .. 48): record_6();
            (carries_t.RECORD, 49 .. 56): record_7();
            (carries_t.RECORD, 57 .. 64): record_8();
            (carries_t.RECORD, 65 .. 72): record_9();
            (carries_t.RECORD, 73 .. 80): record_10();
            (carries_t.RECORD, 81 .. 88): record_11();
            (carries_t.RECORD, 89 .. 96): record_12();
            (carries_t.RECORD, 97 .. 104): record_13();
            (carries_t.RECORD, 105 .. 112): record_14();
            (carries_t.RECORD, 113 .. 120): record_15();
            (carries_t.RECORD, 121 .. 128): record_16();
            (carries_t.RECORD, DELETED .. DELETED): record_deleted();
            (carries_t.ALL, _): all();
            (carries_t.NOTHING, _): nothing();
        }
        const default_action = NoAction();
        size = 32;
    }

    apply {
        value_headers.apply();
    }
}

#endif
