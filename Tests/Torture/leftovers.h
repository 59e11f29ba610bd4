/// Whether a store's directory holds files that nothing needs.
#ifndef TORTURE_LEFTOVERS_H
#define TORTURE_LEFTOVERS_H

#include "failure.h"

/// Names of files in `index/` and `segments/`.
typedef struct file_names {
  char (*names)[40];
  uint32_t count, capacity;
} file_names;

void file_names_free(file_names *names);

/// Lists the files that the next commit must keep: the files of the current generation, and of the generation in the
/// other slot.
bool needed_by_next(file_names *out, const char *store, failure *failure);
/// Lists the files of the current generation.
bool needed_now(file_names *out, const char *store, failure *failure);

/// Checks that `index/` and `segments/` contain only files of the two sets, that `tmp/` is empty, and that no process
/// holds a lock.
bool check_leftovers(const char *store, const file_names *before, const file_names *now, failure *failure);

#endif
