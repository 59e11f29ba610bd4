/// How much private memory the process has allocated.
#ifndef MEMORY_IN_USE_H
#define MEMORY_IN_USE_H

#include <stdint.h>

/// Bytes of all allocated blocks; 0 if the C library does not report it.
uint64_t memory_in_use(void);

#endif
