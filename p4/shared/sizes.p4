// Sizes of all tables, so that what a control plane may rely on is in one place.
#ifndef SHARED_SIZES_P4
#define SHARED_SIZES_P4

#define MAX_PARTITIONS 128
#define IPV4_LPM_ENTRIES 1024
#define OPERATION_ENTRIES 32
#define DROP_ENTRIES 8

#endif
