/// The change list of a delivery: in place of the pages of catalog and layout (`change_list.h`).
///
/// Once it is accepted, all pages of the version's catalog and its attributes are in the base or in the folder. The map assets are
/// known, and the places of all chunks that the list's first version lacks.
///
/// States: unused -> requested (`pks__delivery_changes_request`) -> accepted (`is_taken`), or ignored: a list that does not lead to
/// the version counts as none, because the pages exist anyway.
///
/// Owner: `delivery_changes.c`.
#ifndef PKS_TRANSFER_DELIVERY_CHANGES_H
#define PKS_TRANSFER_DELIVERY_CHANGES_H

#include "transfer/change_list.h"
#include "transfer/delivery_pages.h"

typedef struct pks__delivery_changes {
  pks__delivery_context *context;
  pks__delivery_requests *requests;
  pks__delivery_site *site;
  pks__delivery_pages *pages;
  pks_delivery_changes offered;
  bool is_used, is_taken;
  pks__scratch bytes;   ///< the list
  pks__scratch chunks;  ///< new chunks: their lengths and places
  pks__hash_map chunks_by_id;
  pks__scratch mapped;  ///< map assets of the version, in order of their paths
  pks__scratch texts;   ///< these paths
  uint64_t given_bytes;
  // The layout entry that is being made:
  pks__rows extents;
  pks__layout_extent extent;               ///< to be appended, with a length
  uint64_t end;                            ///< end of the laid-out part of the file
  const struct pks__mapped_change *asset;  ///< the file, if it is a map asset
  uint64_t size;
  bool is_complete;
} pks__delivery_changes;

void pks__delivery_changes_init(
  pks__delivery_changes *changes, pks__delivery_context *context, pks__delivery_requests *requests,
  pks__delivery_site *site, pks__delivery_pages *pages
);
/// Frees the parts that the context does not free.
void pks__delivery_changes_leave(pks__delivery_changes *changes);

/// Requests the list, unless the folder has it: then it is accepted.
pks_status pks__delivery_changes_request(
  pks__delivery_changes *changes, const pks_delivery_changes *offered, pks_error *error
);
/// CORRUPT only when these are not the bytes of the list.
pks_status pks__delivery_changes_give(
  pks__delivery_changes *changes, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
);

// MARK: - Layout

/// Creates the layout entry of a file, in which only the parts with its missing chunks matter: begins it, processes these chunks in
/// order, then ends it. The list must be accepted.
void pks__delivery_changes_begin_file(
  pks__delivery_changes *changes, const char *path, size_t path_length, uint64_t size, bool *mapped
);
pks_status pks__delivery_changes_place(
  pks__delivery_changes *changes, const pks__id *id, uint64_t offset, uint32_t length, pks_error *error
);
/// Encodes it to `value`, which is emptied first. `*is_complete` is false if the list lacks the place of a chunk.
pks_status pks__delivery_changes_end_file(
  pks__delivery_changes *changes, pks__scratch *value, bool *is_complete, pks_error *error
);

#endif
