/// Measures the size of files by file name extension.
///
/// One walk over the merged index, in order of paths. A chunk counts for the first asset that contains it, so that the sums of all
/// kinds equal the size of all current versions.
///
/// Memory: a bit a chunk, and a row for each extension, in the heap: readers have no folder for temporary files.
#include <string.h>

#include "read/run_merge.h"
#include "space/chunk_use.h"

/// Longer ones are none: a dot in a sentence begins no extension.
enum { EXTENSION_MAX = 16 };

typedef struct kind {
  char extension[EXTENSION_MAX];  ///< in small ASCII letters
  uint32_t length;
  uint64_t file_count, logical_bytes, unique_bytes, stored_bytes;
} kind;

typedef struct kind_walk {
  pks_snapshot *snapshot;
  pks__chunk_use use;
  pks__scratch kinds;          ///< kind
  pks__hash_map by_extension;  ///< extension -> index in `kinds`
} kind_walk;

/// Returns the extension of a file's name: the text after its last dot, unless that is the name's first or last byte.
static uint32_t extension_of(const char *name, size_t length, char out[EXTENSION_MAX]) {
  size_t begin = length;
  while (begin > 0 && name[begin - 1] != '.' && length - begin <= EXTENSION_MAX) { begin--; }
  size_t count = length - begin;
  if (begin <= 1 || name[begin - 1] != '.' || count > EXTENSION_MAX) { return 0; }
  for (size_t i = 0; i < count; i++) {
    char letter = name[begin + i];
    out[i] = letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
  }
  return (uint32_t)count;
}

static pks_status find_kind(kind_walk *walk, const pks__run_entry *entry, uint32_t *index, pks_error *error) {
  kind row = {0};
  row.length = extension_of(entry->name, entry->name_length, row.extension);
  uint64_t key = pks__hash_map_key(&walk->by_extension, row.extension, row.length), probe = 0;
  while (pks__hash_map_next(&walk->by_extension, key, &probe, index)) {
    const kind *found = PKS__SCRATCH_AT(&walk->kinds, kind, *index);
    if (found->length == row.length && memcmp(found->extension, row.extension, row.length) == 0) { return PKS_OK; }
  }
  *index = (uint32_t)PKS__SCRATCH_COUNT(&walk->kinds, kind);
  pks_status status = pks__scratch_append(&walk->kinds, &row, sizeof row, error);
  return status ? status : pks__hash_map_insert(&walk->by_extension, key, *index, error);
}

static pks_status count_hit(kind_walk *walk, const pks__hit *hit, pks_error *error) {
  if (hit->entry.kind != PKS__RECORD_FILE) { return PKS_OK; }
  uint32_t index;
  pks_status status = find_kind(walk, &hit->entry, &index, error);
  pks__chunk_sums before = walk->use.data;
  if (!status) { status = pks__chunk_use_add_record(&walk->use, walk->snapshot, hit->run, &hit->entry, error); }
  if (status) { return status; }
  kind *kind = PKS__SCRATCH_AT(&walk->kinds, struct kind, index);
  kind->file_count++;
  kind->logical_bytes += hit->entry.size;
  kind->unique_bytes += walk->use.data.raw_bytes - before.raw_bytes;
  kind->stored_bytes += walk->use.data.stored_bytes - before.stored_bytes;
  return PKS_OK;
}

static pks_status count_all(kind_walk *walk, pks_error *error) {
  pks__run_merge merge = {0};
  pks_status status = pks__run_merge_open(&merge, walk->snapshot, error);
  if (!status) { status = pks__run_merge_seek(&merge, "", 0, error); }
  for (bool more = true; !status && more;) {
    status = pks__run_merge_next(&merge, &more, error);
    for (uint32_t i = 0; !status && more && i < merge.hit_count; i++) {
      status = count_hit(walk, &merge.hits[i], error);
    }
  }
  pks__run_merge_close(&merge);
  return status;
}

pks_status pks_snapshot_extensions(
  const pks_snapshot *snapshot, void (*visit)(void *context, const pks_extension_use *use), void *context,
  pks_error *error
) {
  kind_walk walk = {.snapshot = pks__snapshot_mutable(snapshot)};
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  pks__chunk_use_init(&walk.use, snapshot->store, NULL, NULL);
  walk.by_extension.key = snapshot->store->map_key;
  status = count_all(&walk, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&walk.kinds, kind); i++) {
    const kind *kind = PKS__SCRATCH_AT(&walk.kinds, const struct kind, i);
    pks_extension_use use = {
      .extension = kind->extension,
      .extension_length = kind->length,
      .file_count = kind->file_count,
      .logical_bytes = kind->logical_bytes,
      .unique_bytes = kind->unique_bytes,
      .stored_bytes = kind->stored_bytes,
    };
    visit(context, &use);
  }
  pks__scratch_free(&walk.kinds);
  pks__hash_map_free(&walk.by_extension);
  pks__chunk_use_free(&walk.use);
  return status;
}
