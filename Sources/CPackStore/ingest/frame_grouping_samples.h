/// Statistics of a folder's small files: kinds by file name extension, and samples of each kind, read before the first pass of an
/// add (`ingest/frame_grouping.h` defines the terms).
///
/// States: initialized; then kinds are found and samples are read; then, if needed, the mixture. Reading belongs to one thread;
/// between and after, any number of threads may use the results.
#ifndef PKS_INGEST_FRAME_GROUPING_SAMPLES_H
#define PKS_INGEST_FRAME_GROUPING_SAMPLES_H

#include "ingest/ingest.h"

/// An added file.
typedef struct pks__sample_file {
  const char *path;  ///< not NUL-terminated
  size_t path_length;
  uint64_t size;
  bool is_mapped;        ///< it is to be a map asset
  const void *identity;  ///< the source's
} pks__sample_file;

/// The added files, before the first pass.
typedef struct pks__sample_source {
  void *context;
  /// Visits all files that have bytes, in bytewise order of paths; ends with what `visit` returns if that is an error.
  pks_status (*walk
  )(void *context, pks_status (*visit)(void *visitor, const pks__sample_file *file, pks_error *error), void *visitor,
    pks_error *error);
  /// Reads the visited file to `out`. False if it cannot be read, or has changed.
  bool (*read)(void *context, const pks__sample_file *file, uint8_t *out);
} pks__sample_source;

/// Files that were read: back to back, each with its length.
typedef struct pks__sample {
  pks__scratch bytes;
  pks__scratch lengths;  ///< size_t
} pks__sample;

static inline unsigned pks__sample_count(const pks__sample *sample) {
  return (unsigned)PKS__SCRATCH_COUNT(&sample->lengths, size_t);
}
static inline size_t pks__sample_length(const pks__sample *sample, unsigned index) {
  return *PKS__SCRATCH_AT(&sample->lengths, const size_t, index);
}

typedef struct pks__kind_samples {
  uint64_t bytes;      ///< bytes of all files of the kind
  uint64_t period;     ///< distance between stretches, in bytes of the kind; 0: it is not sampled
  uint64_t position;   ///< position of the next file among its bytes
  uint64_t new_bytes;  ///< bytes of the samples in chunks that the store lacks
  pks__sample trained, apart;
} pks__kind_samples;

/// Small files of all kinds, as they follow each other.
typedef struct pks__mixture {
  uint64_t period, position;  ///< as of a kind
  pks__sample sample;
  pks__scratch kinds;  ///< uint32_t: the kind of each file
} pks__mixture;

enum {
  PKS__COUNTED_NAMES = 64,  // that are counted apart
  PKS__KIND_BYTES_MIN =
    2 * 1024 * 1024,  // of a kind: below, a dictionary cannot pay, and a sample is not representative
};

typedef struct pks__counted_name {
  pks__kind_name name;
  uint64_t bytes;
} pks__counted_name;

typedef struct pks__frame_grouping_samples {
  pks__ingest *ingest;
  const pks__sample_source *source;
  pks__frame_grouping_kinds *forms;             ///< the ingest's: their names are filled in
  pks__counted_name names[PKS__COUNTED_NAMES];  ///< names without a place are counted together with all others
  uint32_t name_count, last_name;
  pks__kind_samples kinds[PKS__KINDS_MAX + 1];
  pks__mixture mixture;
} pks__frame_grouping_samples;

void pks__frame_grouping_samples_init(
  pks__frame_grouping_samples *out, pks__ingest *ingest, const pks__sample_source *source
);
void pks__frame_grouping_samples_free(pks__frame_grouping_samples *samples);

/// Walks twice: creates kinds for the names with the most bytes, and reads samples of kinds that are large enough. `any`: at least
/// one is.
pks_status pks__frame_grouping_samples_read(pks__frame_grouping_samples *samples, bool *any, pks_error *error);
/// Walks once more.
pks_status pks__frame_grouping_samples_read_mixture(pks__frame_grouping_samples *samples, pks_error *error);

static inline uint64_t pks__kind_sampled_bytes(const pks__kind_samples *kind) {
  return kind->trained.bytes.length + kind->apart.bytes.length;
}
/// KiB of a kind that was sampled that are new, if the samples are like all of it. Whole numbers: the same on every processor.
uint64_t pks__kind_new_kib(const pks__kind_samples *kind);
/// Whether enough of the kind is new, and enough was read of it to know.
bool pks__kind_is_worth_trying(const pks__kind_samples *kind);

#endif
