// Sizes of the tables and counters of priority.
#ifndef PRIORITY_SIZES_P4
#define PRIORITY_SIZES_P4

const int DSCPS = 64;             // every value of the six bits
const int QUEUES = 8;             // of a port, 7 served first
const int QUEUE_CELLS = 4096;     // QUEUES for each of the 512 ports that the chip numbers: cell = port * QUEUES + queue

#endif
