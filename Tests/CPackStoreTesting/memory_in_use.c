#include "MemoryInUse.h"

#include <stdlib.h>

#ifdef __GLIBC__
  #include <malloc.h>

uint64_t memory_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + info.hblkhd;
}
#else
uint64_t memory_in_use(void) { return 0; }
#endif
