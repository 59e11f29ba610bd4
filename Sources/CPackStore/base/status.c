#include "base/status.h"

#include <errno.h>
#include <string.h>

/// Keeps the end of a name that does not fit: the last parts say most.
static void copy_name(pks_error *error, const char *name, size_t length) {
  const char *mark = "...";
  size_t room = sizeof error->file - 1;
  if (length <= room) {
    if (length > 0) { memcpy(error->file, name, length); }  // an empty name may be NULL
    error->file[length] = 0;
    return;
  }
  size_t tail = room - strlen(mark);
  memcpy(error->file, mark, strlen(mark));
  memcpy(error->file + strlen(mark), name + length - tail, tail);
  error->file[room] = 0;
}

pks_status pks__fail_at_path(
  pks_error *error, pks_status status, const char *text, const char *path, size_t path_length
) {
  PKS_ASSERT(status != PKS_OK);
  if (error) {
    error->status = status;
    error->system_error = 0;
    error->offset = PKS_NO_OFFSET;
    error->needed = 0;
    error->limit = 0;
    error->text = text;
    error->asset_offset = 0;
    copy_name(error, path, path_length);
  }
  return status;
}

pks_status pks__fail(pks_error *error, pks_status status, const char *text, const char *file, uint64_t offset) {
  pks__fail_at_path(error, status, text, file ? file : "", file ? strlen(file) : 0);
  if (error) { error->offset = offset; }
  return status;
}

pks_status pks__fail_system(pks_error *error, int system_error, const char *text, const char *file) {
  pks_status status = PKS_IO_ERROR;
  if (system_error == ENOSPC || system_error == EDQUOT) { status = PKS_NO_SPACE; }
  if (system_error == ENOMEM) { status = PKS_OUT_OF_MEMORY; }
  pks__fail(error, status, text, file, PKS_NO_OFFSET);
  if (error) { error->system_error = system_error; }
  return status;
}

pks_status pks__fail_memory(pks_error *error) {
  return pks__fail(error, PKS_OUT_OF_MEMORY, "out of memory", NULL, PKS_NO_OFFSET);
}

pks_status pks__fail_forked(pks_error *error) {
  return pks__fail(
    error, PKS_FORKED, "this process was forked after the store was opened: open it again", NULL, PKS_NO_OFFSET
  );
}

pks_status pks__fail_is_site(pks_error *error) {
  return pks__fail(error, PKS_IS_SITE, "the store is a site's, and only publications change it", NULL, PKS_NO_OFFSET);
}

const char *pks_library_version(void) { return PKS_LIBRARY_VERSION; }

const char *pks_status_name(pks_status status) {
  switch (status) {
    case PKS_OK: return "ok";
    case PKS_INVALID_ARGUMENT: return "invalid argument";
    case PKS_NOT_FOUND: return "not found";
    case PKS_NOT_A_STORE: return "not a store";
    case PKS_WRONG_KIND: return "wrong kind";
    case PKS_READ_ONLY: return "read only";
    case PKS_CANCELLED: return "cancelled";
    case PKS_BUSY: return "busy";
    case PKS_REFUSED: return "refused";
    case PKS_SOURCE_CHANGED: return "source changed";
    case PKS_EXISTS: return "exists";
    case PKS_NOT_CONTIGUOUS: return "not contiguous";
    case PKS_CONFLICT: return "conflict";
    case PKS_HELD: return "held";
    case PKS_FORKED: return "forked";
    case PKS_TOO_MANY_ROWS: return "too many rows";
    case PKS_HOSTILE_NAMES: return "hostile names";
    case PKS_OTHER_ORIGIN: return "other origin";
    case PKS_DOWNGRADE: return "downgrade";
    case PKS_STALE: return "stale";
    case PKS_IS_SITE: return "is site";
    case PKS_OUT_OF_MEMORY: return "out of memory";
    case PKS_IO_ERROR: return "input/output error";
    case PKS_NO_SPACE: return "no space";
    case PKS_CORRUPT: return "corrupt";
    case PKS_NEWER_FORMAT: return "newer format";
    case PKS_OTHER_DRAFT: return "other draft";
    case PKS_PURGED: return "purged";
    case PKS_UNTRUSTED: return "untrusted";
  }
  return "unknown";
}
