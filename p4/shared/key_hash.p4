// CRC-32 (as zlib's) over the 16 bytes of the key as on the wire; its low 15 bits are the key's slot.
//
// On Tofino a hash in a straight line with other actions is merged into their table and overflows its immediate path,
// and a 15-bit Hash under a cast crashes the compiler: hence a table of its own, and 16 bits that are sliced where used.
#ifndef SHARED_KEY_HASH_P4
#define SHARED_KEY_HASH_P4

control KeyHash(in op_h op, inout ingress_metadata_t md) {
    Hash<bit<16>>(HashAlgorithm_t.CRC32) crc32;

    action hash_key() {
        md.key_hash = crc32.get({op.keylolo, op.keylohi, op.keyhilo, op.keyhihilo, op.keyhihihi});
    }

    table key_hash {
        actions = {
            hash_key;
        }
        const default_action = hash_key();
        size = 1;
    }

    apply {
        key_hash.apply();
    }
}

#endif
