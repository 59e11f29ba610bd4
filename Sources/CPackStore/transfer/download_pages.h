/// Determines the pages that a client with an empty store fetches for a version of this store, and their bytes.
///
/// A client learns of pages in rounds (`delivery_pages.h`), and of their places from the tables of metadata segments, the newest
/// first. It fetches small segments as a whole, including unneeded pages, and fetches a page in several segments from the one whose
/// table it read first. This code goes through the same rounds with the store's own pages. In the marks of metadata segments, rows
/// are pages that the client has, and frames are pages that it knows.
///
/// Owner: `download_pages.c`.
#ifndef PKS_TRANSFER_DOWNLOAD_PAGES_H
#define PKS_TRANSFER_DOWNLOAD_PAGES_H

#include "transfer/delivery_pages.h"
#include "transfer/segment_marks.h"

typedef struct pks__download_pages {
  pks_snapshot *snapshot;
  pks__segment_marks *marks;
  uint32_t metadata_count;  ///< metadata segments of the version; their turns are those in which their tables come
  uint32_t tabled;          ///< those whose tables came
  uint32_t table_batch;     ///< tables that come next
  pks__scratch tasks;       ///< pks__page_task without files; those before `next_task` are done
  uint64_t next_task;
  pks__scratch waiting;  ///< pks__page_task: the client does not have the page yet
  pks__scratch page;     ///< the page being processed
  pks__scratch lists;    ///< pks__id: roots of lists of extents that the client needs
  pks__hash_map lists_by_id;
  uint64_t bytes;  ///< of pages, as they are stored
} pks__download_pages;

void pks__download_pages_init(pks__download_pages *pages, pks_snapshot *snapshot, pks__segment_marks *marks);
void pks__download_pages_free(pks__download_pages *pages);

/// Sets the segments of the version, in the order of its manifest.
pks_status pks__download_pages_list(pks__download_pages *pages, const pks__scratch *segments, pks_error *error);

/// Records that the client needs a list of extents, once it reaches it in the layout.
pks_status pks__download_pages_need_list(pks__download_pages *pages, const pks__id *root, pks_error *error);

/// Adds a page that the client needs, unless it did before.
pks_status pks__download_pages_need(
  pks__download_pages *pages, const pks__id *id, pks__page_role role, uint32_t level, pks_error *error
);

/// Fetches the needed pages, and all pages they refer to.
pks_status pks__download_pages_fetch(pks__download_pages *pages, pks_error *error);

#endif
