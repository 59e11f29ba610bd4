/// Level 5 of a verification: finds the assets damaged by the faults found so far. Also compares entries with the index.
#ifndef PKS_CHECK_VERIFY_NAMES_H
#define PKS_CHECK_VERIFY_NAMES_H

#include "check/verification.h"

pks_status pks__verify_namespace(pks__verification *v);

/// Replaces the above if runs are damaged: looks up the entries of the current catalogs.
pks_status pks__verify_lookups(pks__verification *v);

/// Reports faults of a record's frames for the asset.
pks_status pks__verify_record(pks__verification *v, const pks__hit *hit, const pks__fault_subject *subject);

/// Compares an entry of a current catalog with the index.
pks_status pks__verify_entry(pks__verification *v, uint32_t rank, const pks__catalog_entry *entry);

/// Compares an entry's chunks with those in its extents: one frame's part after another. `next` returns the segment (NULL: it
/// cannot be used), the frame and the part; CORRUPT if none is left.
typedef struct pks__frame_part {
  pks__segment *segment;
  pks__frame frame;
  uint32_t begin, end;  ///< raw bytes of the frame
} pks__frame_part;

typedef struct pks__part_source {
  void *context;
  pks_status (*next)(void *context, pks__frame_part *out, pks_error *error);
} pks__part_source;

pks_status pks__verify_chunks(pks__verification *v, const pks__catalog_entry *entry, pks__part_source parts);

#endif
