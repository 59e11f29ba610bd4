/// How much private memory the process has allocated.
#ifndef MEMORY_IN_USE_H
#define MEMORY_IN_USE_H

#include <stdint.h>

/// Bytes of all blocks that are not freed; 0 where the C library does not say.
uint64_t memory_in_use(void);

#endif
