/// Adds arbitrary records to the draft of a catalog rebuild. Tests do not include its structures.
#ifndef DRAFTED_RECORD_H
#define DRAFTED_RECORD_H

#include "packstore.h"

/// Adds a folder, a link with a target of `target_length` bytes, or an entry of another `kind` to a new draft, then
/// ends the draft.
pks_status drafted_record(
  pks_sha256 *sha256, const char *path, size_t length, uint32_t kind, size_t target_length, pks_error *error
);

#endif
