/// What a draft makes of a record, whatever it says: drafts stand on structures that tests must not see whole.
#ifndef DRAFTED_RECORD_H
#define DRAFTED_RECORD_H

#include "packstore.h"

/// Puts a folder, a link with a target of so many bytes, or what else `kind` says into a new draft, and ends that.
pks_status drafted_record(
  pks_sha256 *sha256, const char *path, size_t length, uint32_t kind, size_t target_length, pks_error *error
);

#endif
