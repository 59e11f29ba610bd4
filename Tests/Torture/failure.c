#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool fail(failure *failure, const char *format, ...) {
  if (failure->is_set) { return false; }
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(failure->text, sizeof failure->text, format, arguments);
  va_end(arguments);
  failure->is_set = true;
  return false;
}

bool succeeded(failure *failure, const char *what, pks_status status, const pks_error *error) {
  if (status == PKS_OK) { return true; }
  failure->is_missing_file = error->system_error == ENOENT || status == PKS_PURGED;
  return fail(
    failure, "%s: %s: %s %s%s%s", what, pks_status_name(status), error->text ? error->text : "", error->file,
    error->system_error ? ", " : "", error->system_error ? strerror(error->system_error) : ""
  );
}
