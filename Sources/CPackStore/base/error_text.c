/// The texts of error codes.
#include "packstore_base.h"

static const char *describe_status(pks_status status) {
  switch (status) {
    case PKS_OK: return "success";
    case PKS_INVALID_ARGUMENT: return "an argument is invalid";
    case PKS_NOT_FOUND: return "the object does not exist";
    case PKS_NOT_A_STORE: return "the directory is not a store";
    case PKS_WRONG_KIND: return "the object is of another kind";
    case PKS_READ_ONLY: return "the store cannot be written";
    case PKS_CANCELLED: return "the operation was cancelled";
    case PKS_BUSY: return "another process holds the lock";
    case PKS_REFUSED: return "the folder contains files that cannot be stored";
    case PKS_SOURCE_CHANGED: return "the folder changed while it was read";
    case PKS_EXISTS: return "the version exists already, or its number is too low";
    case PKS_NOT_CONTIGUOUS: return "the asset is not stored in one piece";
    case PKS_CONFLICT: return "another writer changed the same pack";
    case PKS_HELD: return "the pack is held since a rollback";
    case PKS_FORKED: return "the process was forked after the store was opened";
    case PKS_TOO_MANY_ROWS: return "the version has too many chunks and extents";
    case PKS_HOSTILE_NAMES: return "the names of the pack make look-ups slow";
    case PKS_OTHER_ORIGIN: return "the pack belongs to another origin";
    case PKS_DOWNGRADE: return "a higher version was accepted before";
    case PKS_STALE: return "a newer root was accepted before";
    case PKS_IS_SITE: return "only publications change the store of a site";
    case PKS_OUT_OF_MEMORY: return "out of memory";
    case PKS_IO_ERROR: return "a system call failed";
    case PKS_NO_SPACE: return "the disk is full";
    case PKS_CORRUPT: return "stored bytes are damaged";
    case PKS_NEWER_FORMAT: return "written by a later version of the library";
    case PKS_OTHER_DRAFT: return "written in another draft of the format";
    case PKS_PURGED: return "data of a purgeable pack is gone";
    case PKS_UNTRUSTED: return "not signed by a trusted key";
  }
  return "unknown error";
}

static const char *describe_detail(pks_detail detail) {
  switch (detail) {
    case PKS_DETAIL_NONE: return NULL;
    case PKS_DETAIL_NO_HASH: return "the options lack the SHA-256 function";
    case PKS_DETAIL_NO_CACHE_FOLDER: return "the store has no cache folder for data of purgeable packs";
    case PKS_DETAIL_LIMIT: return "a limit of the format is exceeded";
    case PKS_DETAIL_ORIGIN_IN_USE: return "the origin still has packs or a history";
    case PKS_DETAIL_NO_PACK: return "the store does not have the pack";
    case PKS_DETAIL_NO_VERSION: return "the version is not kept";
    case PKS_DETAIL_NO_EARLIER_VERSION: return "no earlier version is kept";
    case PKS_DETAIL_NO_ASSET: return "no asset has the path";
    case PKS_DETAIL_NO_FOLDER: return "the folder does not exist";
    case PKS_DETAIL_NO_ORIGIN: return "the store does not have the origin";
    case PKS_DETAIL_NO_DIRECTORY: return "the directory does not exist";
    case PKS_DETAIL_NO_CONTROL_FILE: return "the directory does not contain a store";
    case PKS_DETAIL_FOREIGN_DIRECTORY: return "the directory contains other files";
    case PKS_DETAIL_OPEN_FOR_READING: return "the store was opened for reading only";
    case PKS_DETAIL_NOT_WRITABLE: return "the file system refuses to write";
    case PKS_DETAIL_NEWER_WRITER: return "a later version of the library changes the store";
    case PKS_DETAIL_OTHER_WRITER: return "another process writes to the store";
    case PKS_DETAIL_OTHER_FETCH: return "another process fetches the same version";
    case PKS_DETAIL_FORBIDDEN_FILES: return "the folder contains files that cannot be stored";
    case PKS_DETAIL_UNREADABLE_FILES: return "the folder contains files that cannot be read";
    case PKS_DETAIL_SECRET_KEY: return "a file begins with a secret key";
    case PKS_DETAIL_SIZE_UNKNOWN: return "the size of a file differs from its content";
    case PKS_DETAIL_OTHER_CONTENT: return "the version exists with other content";
    case PKS_DETAIL_LOW_NUMBER: return "the version number is not above every earlier one";
    case PKS_DETAIL_STORE_EXISTS: return "a store exists already";
    case PKS_DETAIL_STORE_REPAIRED: return "the store was repaired since then";
    case PKS_DETAIL_PACK_CHANGED: return "another writer changed the pack since then";
    case PKS_DETAIL_PACK_REMOVED: return "another writer removed the pack since then";
    case PKS_DETAIL_COLLECTED: return "another writer deleted data that the transaction reuses";
    case PKS_DETAIL_OTHER_CACHE_FOLDER: return "another writer chose another cache folder";
    case PKS_DETAIL_HIGHER_ACCEPTED: return "a higher version was accepted before";
    case PKS_DETAIL_WITHDRAWN: return "the publisher withdrew the version";
    case PKS_DETAIL_REPLACED_KEY: return "the root is signed by a key that its publisher replaced";
    case PKS_DETAIL_OLDER_STATE: return "the root repeats a state from before the publisher took something back";
    case PKS_DETAIL_NO_LOCKS: return "the file system has no locks";
    case PKS_DETAIL_CACHE_BUDGET: return "the budget of the cache is too small";
    case PKS_DETAIL_BAD_CONTROL_FILE: return "the control file is missing or damaged";
    case PKS_DETAIL_SEGMENT_GONE: return "a segment is missing";
  }
  return NULL;
}

const char *pks_error_describe(pks_status status, pks_detail detail) {
  const char *text = status == PKS_OK ? NULL : describe_detail(detail);
  return text ? text : describe_status(status);
}
