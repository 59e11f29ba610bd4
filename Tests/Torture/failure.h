/// What went wrong, as text. The first failure is the one that is kept.
#ifndef TORTURE_FAILURE_H
#define TORTURE_FAILURE_H

#include <packstore.h>

typedef struct failure {
  bool is_set;
  bool is_missing_file;  ///< a file was not there that a process relied on
  char text[1280];
} failure;

/// Notes a failure and returns false.
bool fail(failure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// True when the call succeeded; notes what it says otherwise. `what` was being done.
bool succeeded(failure *failure, const char *what, pks_status status, const pks_error *error);

#endif
