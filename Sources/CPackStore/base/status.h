/// How functions of the core report failure: a `pks_status`, and the caller's `pks_error` filled in when it is not
/// NULL.
#ifndef PKS_BASE_STATUS_H
#define PKS_BASE_STATUS_H

#include "base/base.h"
#include "packstore.h"

// Each function fills `*error` and returns its status. `text` is static, and is the fault alone: callers write the object and
// a colon before it. Names are copied.

/// An error at an offset in an object. `name`: NULL: the object has no name.
pks_status pks__fail_at(
  pks_error *error, pks_status status, pks_detail detail, pks_subject subject, const char *name, uint64_t offset,
  const char *text
);

/// An error about an object: a pack, a folder, a store. `name`: NULL: the object has no name.
pks_status pks__fail_about(
  pks_error *error, pks_status status, pks_detail detail, pks_subject subject, const char *name, const char *text
);

/// An error in a file of the store, or about nothing that has a name if `file` is NULL.
pks_status pks__fail(pks_error *error, pks_status status, const char *text, const char *file, uint64_t offset);

/// An error about an asset or an entry of a folder, whose path is not NUL-terminated.
pks_status pks__fail_case_at_path(
  pks_error *error, pks_status status, pks_detail detail, const char *path, size_t path_length, const char *text
);

/// As `pks__fail_case_at_path`, without a detail.
pks_status pks__fail_at_path(
  pks_error *error, pks_status status, const char *text, const char *path, size_t path_length
);

/// A failed call of the seam: ENOSPC and EDQUOT become NO_SPACE, ENOMEM OUT_OF_MEMORY, any other IO_ERROR.
pks_status pks__fail_system_about(
  pks_error *error, int system_error, pks_detail detail, pks_subject subject, const char *name, const char *text
);

/// As `pks__fail_system_about`, on a file of the store, or on nothing that has a name if `file` is NULL.
pks_status pks__fail_system(pks_error *error, int system_error, const char *text, const char *file);

pks_status pks__fail_memory(pks_error *error);
pks_status pks__fail_forked(pks_error *error);
pks_status pks__fail_is_site(pks_error *error);

#endif
