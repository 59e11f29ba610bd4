/// The catalog of a known version as what is ingested.
#ifndef PKS_INGEST_INGEST_VERSION_H
#define PKS_INGEST_INGEST_VERSION_H

#include "ingest/ingest.h"

/// What `pks__ingest_version` is to do.
typedef struct pks__version_request {
  const char *pack;
  const pks_add_request *encoding;  ///< level, layout, sizes of frames, and priority; NULL: the defaults
  pks__id catalog;
  /// says which files are map assets; where it cannot be read, none is, unless `needs_layout`: then that is the error
  pks__id layout;
  bool needs_layout;
  pks__id attributes;  ///< of the version that is made; zero: none
  /// asked instead of the layout whether a file is a map asset, in order of paths; NULL: the layout says
  bool (*is_mapped)(void *context, const char *path, size_t path_length);
  pks__page_source pages;  ///< of all three
  bool is_kept;            ///< as in `pks__ingest`
  /// for chunks that the base does not have: whether `fetch` will be able to. NULL: they are nowhere
  pks_status (*has)(void *context, const pks__chunk_want *want, bool *has, pks_error *error);
  pks__chunk_fetch fetch;
  /// told of each file that cannot be had whole, which is left out; NULL: that is CORRUPT
  void (*lost)(void *context, const char *path, size_t path_length);
  void (*lost_attributes)(void *context);                         ///< with `lost`: likewise, of the attributes
  bool (*progress)(void *context, const pks_progress *progress);  ///< as in `pks_add_request`; NULL: none
  void *context;                                                  ///< for all of these
  /// Stores chunks again that may not be relied on, though nothing changed: those in `avoided` (NULL: none), and those that the
  /// pack's placement forbids.
  bool relays;
  const pks__segment_set *avoided;
  /// it is tried how small assets are put into frames, as with a folder: `fetch` has all chunks that the base has not
  bool tries_forms;
  bool keeps_missing;   ///< as in `pks__reliance`
  bool stores_durably;  ///< what is stored again goes among the store's files, though the pack be purgeable
  /// keeps the frames, and notes those that are written before the walk; outlives the ingest. NULL: the staging
  const pks__frame_sink *sink;
} pks__version_request;

/// Whether `base`, as far as `reliance` allows (NULL: all of it), or `request->has`, has every chunk of an entry, and these
/// make it up: whether a walk that leaves out losses keeps it. `chunk_maximum` is what the chunks may be at most.
pks_status pks__ingest_version_has(
  const pks__version_request *request, pks_snapshot *base, const pks__reliance *reliance,
  const pks__catalog_entry *entry, uint32_t chunk_maximum, bool *had, pks_error *error
);

/// First pass over a catalog, in two steps: what takes chunks and pages is opened, and its `frames` may be given chunks
/// that the base does not have; then the catalog is walked. The chunks that were given take their numbers in the order in
/// which their frames are written, whether these stay as they came or are formed here; the sink notes each frame before.
/// The result of the first step is to be closed, also after an error. `thread_count` is at most the store's.
pks_status pks__ingest_version_open(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks__version_request *request,
  uint32_t thread_count, bool sync, pks_error *error
);

pks_status pks__ingest_version_walk(pks__ingest *ingest, const pks__version_request *request, pks_error *error);

/// Both. The result is to be closed, also after an error. Without losses its catalog is the one that was asked for. Errors:
/// CORRUPT, also when pages or chunks are nowhere; those of `has` and `fetch`.
pks_status pks__ingest_version(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks__version_request *request, bool sync,
  pks_error *error
);

#endif
