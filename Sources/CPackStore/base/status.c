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

/// Fills all of the error.
static pks_status fail(
  pks_error *error, pks_status status, pks_detail detail, pks_subject subject, const char *name, size_t name_length,
  uint64_t offset, const char *text
) {
  PKS_ASSERT(status != PKS_OK);
  if (error) {
    error->status = status;
    error->detail = detail;
    error->subject = subject;
    error->system_error = 0;
    error->offset = offset;
    error->needed = 0;
    error->limit = 0;
    error->text = text;
    error->asset_offset = 0;
    copy_name(error, name, name_length);
  }
  return status;
}

pks_status pks__fail_at(
  pks_error *error, pks_status status, pks_detail detail, pks_subject subject, const char *name, uint64_t offset,
  const char *text
) {
  return fail(error, status, detail, subject, name ? name : "", name ? strlen(name) : 0, offset, text);
}

pks_status pks__fail_about(
  pks_error *error, pks_status status, pks_detail detail, pks_subject subject, const char *name, const char *text
) {
  return pks__fail_at(error, status, detail, subject, name, PKS_NO_OFFSET, text);
}

/// A name alone is one of a file of the store.
static pks_subject store_file(const char *file) { return file ? PKS_SUBJECT_STORE_FILE : PKS_SUBJECT_NONE; }

pks_status pks__fail(pks_error *error, pks_status status, const char *text, const char *file, uint64_t offset) {
  return pks__fail_at(error, status, PKS_DETAIL_NONE, store_file(file), file, offset, text);
}

pks_status pks__fail_case_at_path(
  pks_error *error, pks_status status, pks_detail detail, const char *path, size_t path_length, const char *text
) {
  return fail(error, status, detail, PKS_SUBJECT_PATH, path, path_length, PKS_NO_OFFSET, text);
}

pks_status pks__fail_at_path(
  pks_error *error, pks_status status, const char *text, const char *path, size_t path_length
) {
  return pks__fail_case_at_path(error, status, PKS_DETAIL_NONE, path, path_length, text);
}

pks_status pks__fail_system_about(
  pks_error *error, int system_error, pks_detail detail, pks_subject subject, const char *name, const char *text
) {
  pks_status status = PKS_IO_ERROR;
  if (system_error == ENOSPC || system_error == EDQUOT) { status = PKS_NO_SPACE; }
  if (system_error == ENOMEM) { status = PKS_OUT_OF_MEMORY; }
  pks__fail_about(error, status, detail, subject, name, text);
  if (error) { error->system_error = system_error; }
  return status;
}

pks_status pks__fail_system(pks_error *error, int system_error, const char *text, const char *file) {
  return pks__fail_system_about(error, system_error, PKS_DETAIL_NONE, store_file(file), file, text);
}

pks_status pks__fail_memory(pks_error *error) {
  return pks__fail(error, PKS_OUT_OF_MEMORY, "out of memory", NULL, PKS_NO_OFFSET);
}

pks_status pks__fail_forked(pks_error *error) {
  const char *text = "the process was forked after the store was opened; open the store again";
  return pks__fail(error, PKS_FORKED, text, NULL, PKS_NO_OFFSET);
}

pks_status pks__fail_is_site(pks_error *error) {
  const char *text = "a site's store, which only publications change";
  return pks__fail_about(error, PKS_IS_SITE, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, NULL, text);
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

const char *pks_subject_name(pks_subject subject) {
  switch (subject) {
    case PKS_SUBJECT_NONE: return "none";
    case PKS_SUBJECT_STORE: return "store";
    case PKS_SUBJECT_PACK: return "pack";
    case PKS_SUBJECT_VERSION: return "version";
    case PKS_SUBJECT_PATH: return "path";
    case PKS_SUBJECT_FOLDER: return "folder";
    case PKS_SUBJECT_FILE: return "file";
    case PKS_SUBJECT_STORE_FILE: return "store_file";
    case PKS_SUBJECT_CACHE_FOLDER: return "cache_folder";
    case PKS_SUBJECT_DELTA: return "delta";
    case PKS_SUBJECT_PRODUCT: return "product";
    case PKS_SUBJECT_PATTERN: return "pattern";
  }
  return "unknown";
}

const char *pks_detail_name(pks_detail detail) {
  switch (detail) {
    case PKS_DETAIL_NONE: return "none";
    case PKS_DETAIL_NO_HASH: return "no_hash";
    case PKS_DETAIL_NO_CACHE_FOLDER: return "no_cache_folder";
    case PKS_DETAIL_LIMIT: return "limit";
    case PKS_DETAIL_ORIGIN_IN_USE: return "origin_in_use";
    case PKS_DETAIL_NO_PACK: return "no_pack";
    case PKS_DETAIL_NO_VERSION: return "no_version";
    case PKS_DETAIL_NO_EARLIER_VERSION: return "no_earlier_version";
    case PKS_DETAIL_NO_ASSET: return "no_asset";
    case PKS_DETAIL_NO_FOLDER: return "no_folder";
    case PKS_DETAIL_NO_ORIGIN: return "no_origin";
    case PKS_DETAIL_NO_DIRECTORY: return "no_directory";
    case PKS_DETAIL_NO_CONTROL_FILE: return "no_control_file";
    case PKS_DETAIL_FOREIGN_DIRECTORY: return "foreign_directory";
    case PKS_DETAIL_OPEN_FOR_READING: return "open_for_reading";
    case PKS_DETAIL_NOT_WRITABLE: return "not_writable";
    case PKS_DETAIL_NEWER_WRITER: return "newer_writer";
    case PKS_DETAIL_OTHER_WRITER: return "other_writer";
    case PKS_DETAIL_OTHER_FETCH: return "other_fetch";
    case PKS_DETAIL_FORBIDDEN_FILES: return "forbidden_files";
    case PKS_DETAIL_UNREADABLE_FILES: return "unreadable_files";
    case PKS_DETAIL_SECRET_KEY: return "secret_key";
    case PKS_DETAIL_SIZE_UNKNOWN: return "size_unknown";
    case PKS_DETAIL_OTHER_CONTENT: return "other_content";
    case PKS_DETAIL_LOW_NUMBER: return "low_number";
    case PKS_DETAIL_STORE_EXISTS: return "store_exists";
    case PKS_DETAIL_STORE_REPAIRED: return "store_repaired";
    case PKS_DETAIL_PACK_CHANGED: return "pack_changed";
    case PKS_DETAIL_PACK_REMOVED: return "pack_removed";
    case PKS_DETAIL_COLLECTED: return "collected";
    case PKS_DETAIL_OTHER_CACHE_FOLDER: return "other_cache_folder";
    case PKS_DETAIL_HIGHER_ACCEPTED: return "higher_accepted";
    case PKS_DETAIL_WITHDRAWN: return "withdrawn";
    case PKS_DETAIL_REPLACED_KEY: return "replaced_key";
    case PKS_DETAIL_OLDER_STATE: return "older_state";
    case PKS_DETAIL_NO_LOCKS: return "no_locks";
    case PKS_DETAIL_CACHE_BUDGET: return "cache_budget";
    case PKS_DETAIL_BAD_CONTROL_FILE: return "bad_control_file";
    case PKS_DETAIL_SEGMENT_GONE: return "segment_gone";
  }
  return "unknown";
}
