/// The text of a failure. Only the first failure is kept.
#ifndef TORTURE_FAILURE_H
#define TORTURE_FAILURE_H

#include <packstore.h>

typedef struct failure {
  bool is_set;
  bool is_missing_file;  ///< a file that a process relied on was missing
  char text[1280];
} failure;

/// Records a failure and returns false.
bool fail(failure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Whether the call succeeded; records its error otherwise. `what` names the attempted action.
bool succeeded(failure *failure, const char *what, pks_status status, const pks_error *error);

#endif
