// Table sizes, all in one place.
#ifndef TURNTABLE_SIZES_P4
#define TURNTABLE_SIZES_P4

const int MAX_PARTITIONS = 128;  // logical servers of the largest rotation; FarReach reference §3.1
const int MAX_HOSTS = 1024;      // routes

#endif
