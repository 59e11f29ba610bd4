/// The change list of a delivery: in place of the pages of catalog and layout (`change_list.h`).
///
/// Once it is taken, all pages of the version's catalog and its attributes are in the base or in the folder, and it is known
/// which files are map assets, and where each chunk lies that the version with which the list begins has not.
///
/// States: unused -> wanted (`pks__delivery_changes_want`) -> taken (`is_taken`), or ignored: a list that does not lead to the
/// version is as good as none, since the pages are there all the same.
///
/// Owner: `delivery_changes.c`.
#ifndef PKS_TRANSFER_DELIVERY_CHANGES_H
#define PKS_TRANSFER_DELIVERY_CHANGES_H

#include "transfer/change_list.h"
#include "transfer/delivery_pages.h"

typedef struct pks__delivery_changes {
  pks__delivery_context *context;
  pks__delivery_wants *wants;
  pks__delivery_site *site;
  pks__delivery_pages *pages;
  pks_delivery_changes request;
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
  uint64_t end;                            ///< in the file, of what was laid out
  const struct pks__mapped_change *asset;  ///< the file, if it is a map asset
  uint64_t size;
  bool is_complete;
} pks__delivery_changes;

void pks__delivery_changes_init(
  pks__delivery_changes *changes, pks__delivery_context *context, pks__delivery_wants *wants, pks__delivery_site *site,
  pks__delivery_pages *pages
);
/// Frees what the context does not.
void pks__delivery_changes_leave(pks__delivery_changes *changes);

/// Wants the list, unless the folder has it: then it is taken.
pks_status pks__delivery_changes_want(
  pks__delivery_changes *changes, const pks_delivery_changes *request, pks_error *error
);
/// CORRUPT only when these are not the bytes of the list.
pks_status pks__delivery_changes_give(
  pks__delivery_changes *changes, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

// MARK: - Layout

/// Makes the layout entry of a file, of which only that counts which leads to its missing chunks: begins it, then goes through
/// these in order, then ends it. The list is taken.
void pks__delivery_changes_begin_file(
  pks__delivery_changes *changes, const char *path, size_t path_length, uint64_t size, bool *mapped
);
pks_status pks__delivery_changes_place(
  pks__delivery_changes *changes, const pks__id *id, uint64_t offset, uint32_t length, pks_error *error
);
/// Encodes it to `value`, which is emptied first. `*is_complete` is false when the list does not know where a chunk lies.
pks_status pks__delivery_changes_end_file(
  pks__delivery_changes *changes, pks__scratch *value, bool *is_complete, pks_error *error
);

#endif
