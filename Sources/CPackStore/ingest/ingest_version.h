/// The catalog of a known version as the source of an ingest.
#ifndef PKS_INGEST_INGEST_VERSION_H
#define PKS_INGEST_INGEST_VERSION_H

#include "ingest/ingest.h"

/// What `pks__ingest_version` is to do.
typedef struct pks__version_request {
  const char *pack;
  const pks_add_request *encoding;  ///< level, layout, sizes of frames, and priority; NULL: the defaults
  pks__id catalog;
  /// determines which files are map assets; if it cannot be read, none is, unless `needs_layout`: then it is an error
  pks__id layout;
  bool needs_layout;
  pks__id attributes;  ///< attributes of the new version; zero: none
  /// determines instead of the layout whether a file is a map asset, called in order of paths; NULL: the layout decides
  bool (*is_mapped)(void *context, const char *path, size_t path_length);
  pks__page_source pages;  ///< source of the pages of all three
  bool is_kept;            ///< as in `pks__ingest`
  /// for chunks that the base does not have: whether `fetch` will be able to. NULL: they are nowhere
  pks_status (*has)(void *context, const pks__chunk_want *want, bool *has, pks_error *error);
  pks__chunk_fetch fetch;
  /// called for each incomplete file, which is left out; NULL: an incomplete file is CORRUPT
  void (*lost)(void *context, const char *path, size_t path_length);
  void (*lost_attributes)(void *context);                         ///< with `lost`: called if the attributes are lost
  bool (*progress)(void *context, const pks_progress *progress);  ///< as in `pks_add_request`; NULL: none
  void *context;                                                  ///< for all of these
  /// Stores chunks again that must not be used, although nothing changed: chunks in `avoided` (NULL: none), and chunks in a place
  /// that the pack's placement forbids.
  bool relays;
  const pks__segment_set *avoided;
  /// it is tried how small assets are put into frames, as with a folder: `fetch` has all chunks that the base has not
  bool tries_forms;
  bool keeps_missing;   ///< as in `pks__reuse_policy`
  bool stores_durably;  ///< chunks stored again go to the store's own files, even if the pack is purgeable
  /// receives and keeps the frames, and records written ones before the walk; outlives the ingest. NULL: the staging
  const pks__frame_sink *sink;
} pks__version_request;

/// Whether `base`, within `reuse_policy` (NULL: everything), or `request->has`, has every chunk of an entry, and these chunks form
/// the file: whether a walk without lost files keeps it. `chunk_maximum` is the maximum chunk length.
pks_status pks__ingest_version_has(
  const pks__version_request *request, pks_snapshot *base, const pks__reuse_policy *reuse_policy,
  const pks__catalog_entry *entry, uint32_t chunk_maximum, bool *had, pks_error *error
);

/// First pass over a catalog, in two steps. The first opens the receivers of chunks and pages; its `frames` may then receive chunks
/// that the base lacks. The second walks the catalog. Given chunks are numbered in the order in which their frames are written,
/// whether these frames are kept or formed here; the sink records each frame first. The result of the first step must be closed,
/// also after an error. `thread_count` is at most the store's.
pks_status pks__ingest_version_open(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks__version_request *request,
  uint32_t thread_count, bool sync, pks_error *error
);

pks_status pks__ingest_version_walk(pks__ingest *ingest, const pks__version_request *request, pks_error *error);

/// Runs both steps. The result must be closed, also after an error. Without losses, the resulting catalog is the requested one.
/// Errors: CORRUPT, also if pages or chunks are missing; the errors of `has` and `fetch`.
pks_status pks__ingest_version(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks__version_request *request, bool sync,
  pks_error *error
);

#endif
