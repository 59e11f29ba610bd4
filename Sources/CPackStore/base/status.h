/// How functions of the core report failure: a `pks_status`, and the caller's `pks_error` filled in when it is not
/// NULL.
#ifndef PKS_BASE_STATUS_H
#define PKS_BASE_STATUS_H

#include "base/base.h"
#include "packstore.h"

/// Fills `*error` and returns `status`. `text` is static; `file` is copied and may be NULL.
pks_status pks__fail(pks_error *error, pks_status status, const char *text, const char *file, uint64_t offset);

/// The same for `file` bytes that are not NUL-terminated.
pks_status pks__fail_at_path(
  pks_error *error, pks_status status, const char *text, const char *path, size_t path_length
);

/// The same for a failed call of the seam: ENOSPC and EDQUOT become NO_SPACE, ENOMEM OUT_OF_MEMORY, all else IO_ERROR.
pks_status pks__fail_system(pks_error *error, int system_error, const char *text, const char *file);

pks_status pks__fail_memory(pks_error *error);
pks_status pks__fail_forked(pks_error *error);
pks_status pks__fail_is_site(pks_error *error);

#endif
