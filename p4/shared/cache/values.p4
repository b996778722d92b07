// The values of all slots: 32 registers of one word, word i where it stands in hdr.value_(i / 2).
#ifndef SHARED_CACHE_VALUES_P4
#define SHARED_CACHE_VALUES_P4

control ValueWord(inout bit<32> word, in bit<16> slot, in access_t access) {
    Register<bit<32>, bit<16>>(SLOTS, 0) cells;
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) read_cell = {
        void apply(inout bit<32> cell, out bit<32> rv) {
            rv = cell;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) exchange_cell = {
        void apply(inout bit<32> cell, out bit<32> rv) {
            rv = cell;
            cell = word;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) write_cell = {
        void apply(inout bit<32> cell) {
            cell = word;
        }
    };

    action read() {
        word = read_cell.execute(slot);
    }

    action exchange() {
        word = exchange_cell.execute(slot);
    }

    action write() {
        write_cell.execute(slot);
    }

    table value {
        key = {
            access: exact @name("access");
        }
        actions = {
            read;
            exchange;
            write;
            @defaultonly NoAction;
        }
        const entries = {
            access_t.READ: read();
            access_t.EXCHANGE: exchange();
            access_t.EXCHANGE_DELETED: read();
            access_t.WRITE: write();
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        value.apply();
    }
}

#define VALUE_WORDS(FIRST, SECOND, VALUE) \
        FIRST.apply(hdr.VALUE.first, hdr.bridge.slot, md.access); \
        SECOND.apply(hdr.VALUE.second, hdr.bridge.slot, md.access);

control Values(inout egress_headers_t hdr, in egress_metadata_t md) {
    ValueWord() value_0;
    ValueWord() value_1;
    ValueWord() value_2;
    ValueWord() value_3;
    ValueWord() value_4;
    ValueWord() value_5;
    ValueWord() value_6;
    ValueWord() value_7;
    ValueWord() value_8;
    ValueWord() value_9;
    ValueWord() value_10;
    ValueWord() value_11;
    ValueWord() value_12;
    ValueWord() value_13;
    ValueWord() value_14;
    ValueWord() value_15;
    ValueWord() value_16;
    ValueWord() value_17;
    ValueWord() value_18;
    ValueWord() value_19;
    ValueWord() value_20;
    ValueWord() value_21;
    ValueWord() value_22;
    ValueWord() value_23;
    ValueWord() value_24;
    ValueWord() value_25;
    ValueWord() value_26;
    ValueWord() value_27;
    ValueWord() value_28;
    ValueWord() value_29;
    ValueWord() value_30;
    ValueWord() value_31;

    apply {
        VALUE_WORDS(value_0, value_1, value_0)
        VALUE_WORDS(value_2, value_3, value_1)
        VALUE_WORDS(value_4, value_5, value_2)
        VALUE_WORDS(value_6, value_7, value_3)
        VALUE_WORDS(value_8, value_9, value_4)
        VALUE_WORDS(value_10, value_11, value_5)
        VALUE_WORDS(value_12, value_13, value_6)
        VALUE_WORDS(value_14, value_15, value_7)
        VALUE_WORDS(value_16, value_17, value_8)
        VALUE_WORDS(value_18, value_19, value_9)
        VALUE_WORDS(value_20, value_21, value_10)
        VALUE_WORDS(value_22, value_23, value_11)
        VALUE_WORDS(value_24, value_25, value_12)
        VALUE_WORDS(value_26, value_27, value_13)
        VALUE_WORDS(value_28, value_29, value_14)
        VALUE_WORDS(value_30, value_31, value_15)
    }
}

#endif
