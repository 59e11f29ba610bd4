#include "ingest/frame_grouping_samples.h"

#include <string.h>

#include "codec/dictionary_training.h"
#include "codec/hash_batch.h"
#include "store/chunk_lookup.h"

enum {
  STRETCH = 32 * 1024,
  MIXTURE_STRETCH = 128 * 1024,  // long enough for neighbours of several kinds
  SAMPLE_MIN = 256 * 1024,
  SAMPLE_MAX = 2 * 1024 * 1024,
  APART = 4,  // every so many stretches, one is kept apart
};

// MARK: - Kinds

static bool is_small(const pks__sample_file *file) { return !file->is_mapped && file->size < PKS__LARGE_ASSET; }

static pks_status count_name(void *context, const pks__sample_file *file, pks_error *error) {
  (void)error;
  pks__frame_grouping_samples *samples = context;
  if (!is_small(file)) { return PKS_OK; }
  pks__kind_name name = pks__kind_name_of(file->path, file->path_length);
  pks__counted_name *names = samples->names;
  samples->kinds[PKS__KINDS_MAX].bytes += file->size;
  // Neighbours are often alike.
  uint32_t count = samples->name_count, at = samples->last_name;
  bool is_last = at < count && memcmp(&names[at].name, &name, sizeof name) == 0;
  if (!is_last) {
    for (at = 0; at < count && memcmp(&names[at].name, &name, sizeof name) != 0;) { at++; }
  }
  if (at == PKS__COUNTED_NAMES) { return PKS_OK; }
  if (at == count) { names[samples->name_count++] = (pks__counted_name){.name = name}; }
  names[at].bytes += file->size;
  samples->last_name = at;
  return PKS_OK;
}

/// Creates kinds for the names with the most bytes. One more kind contains all other files.
static void choose_kinds(pks__frame_grouping_samples *samples) {
  pks__frame_grouping_kinds *out = samples->forms;
  uint64_t *left = &samples->kinds[PKS__KINDS_MAX].bytes;
  while (out->count < PKS__KINDS_MAX) {
    pks__counted_name *most = NULL;
    for (uint32_t i = 0; i < samples->name_count; i++) {
      if (!most || samples->names[i].bytes > most->bytes) { most = &samples->names[i]; }
    }
    if (!most || most->bytes < PKS__KIND_BYTES_MIN) { break; }
    out->kinds[out->count].name = most->name;
    samples->kinds[out->count++].bytes = most->bytes;
    *left -= most->bytes;
    most->bytes = 0;
  }
}

// MARK: - The sample

/// Counts the bytes of a file in chunks that the store lacks.
static pks_status count_new(
  pks__frame_grouping_samples *samples, pks__kind_samples *kind, const uint8_t *bytes, size_t length, pks_error *error
) {
  pks__ingest *ingest = samples->ingest;
  const pks_store *store = ingest->staging->store;
  pks__hash_batch batch;
  pks__id ids[PKS__HASH_BATCH_MAX];
  size_t lengths[PKS__HASH_BATCH_MAX];
  pks_status status = PKS_OK;
  pks__hash_batch_begin(&batch, store->sha256, store->sha256_many);
  for (size_t at = 0; !status && at < length;) {
    uint32_t count = 0;
    while (count < PKS__HASH_BATCH_MAX && at < length) {
      size_t chunk = pks__chunker_cut(&ingest->chunker, bytes + at, length - at);
      pks__hash_batch_add(&batch, bytes + at, chunk, ids[count].bytes);
      lengths[count++] = chunk;
      at += chunk;
    }
    pks__hash_batch_flush(&batch);
    for (uint32_t i = 0; !status && i < count; i++) {
      pks__chunk_ref ref;
      bool found = false;
      status = pks__snapshot_find_chunk(ingest->base, &ids[i], PKS__SEGMENT_DATA, &ref, &found, error);
      if (!found) { kind->new_bytes += lengths[i]; }
    }
  }
  return status;
}

/// Adds a file to a sample, unless that is full, or the file cannot be read.
static pks_status read_file(
  const pks__frame_grouping_samples *samples, pks__sample *out, const pks__sample_file *file, bool *is_read,
  pks_error *error
) {
  size_t length = (size_t)file->size;
  uint64_t begin = out->bytes.length;
  *is_read = false;
  if (begin + length > PKS__TRAINING_SAMPLE_MAX) { return PKS_OK; }
  pks_status status = pks__scratch_append(&out->bytes, NULL, length, error);
  if (status) { return status; }
  *is_read = samples->source->read(samples->source->context, file, out->bytes.bytes + begin);
  if (!*is_read) { out->bytes.length = begin; }
  return *is_read ? pks__scratch_append(&out->lengths, &length, sizeof length, error) : PKS_OK;
}

/// How far stretches of files are apart, in bytes of all of them.
static uint64_t period_of(uint64_t bytes, uint64_t stretch) {
  if (bytes < PKS__KIND_BYTES_MIN) { return 0; }
  uint64_t wanted = pks__min64(pks__max64(bytes / 16, SAMPLE_MIN), SAMPLE_MAX);
  return bytes / (wanted / stretch);
}

/// Samples a file that begins in the first part of a period.
static pks_status sample_file(void *context, const pks__sample_file *file, pks_error *error) {
  pks__frame_grouping_samples *samples = context;
  if (!is_small(file)) { return PKS_OK; }
  pks__kind_name name = pks__kind_name_of(file->path, file->path_length);
  pks__kind_samples *kind = &samples->kinds[pks__frame_grouping_kinds_find(samples->forms, &name)];
  uint64_t position = kind->position;
  kind->position += file->size;
  if (kind->period == 0 || position % kind->period >= STRETCH) { return PKS_OK; }
  bool is_apart = position / kind->period % APART == APART - 1, is_read;
  pks__sample *sample = is_apart ? &kind->apart : &kind->trained;
  pks_status status = read_file(samples, sample, file, &is_read, error);
  if (status || !is_read) { return status; }
  size_t length = (size_t)file->size;
  return count_new(samples, kind, sample->bytes.bytes + sample->bytes.length - length, length, error);
}

// MARK: - The mixture

/// Samples a file of any kind, and records its kind.
static pks_status sample_mixture(void *context, const pks__sample_file *file, pks_error *error) {
  pks__frame_grouping_samples *samples = context;
  pks__mixture *mixture = &samples->mixture;
  if (!is_small(file)) { return PKS_OK; }
  uint64_t position = mixture->position;
  mixture->position += file->size;
  if (position % mixture->period >= MIXTURE_STRETCH) { return PKS_OK; }
  bool is_read;
  pks_status status = read_file(samples, &mixture->sample, file, &is_read, error);
  if (status || !is_read) { return status; }
  pks__kind_name name = pks__kind_name_of(file->path, file->path_length);
  uint32_t kind = pks__frame_grouping_kinds_find(samples->forms, &name);
  return pks__scratch_append(&mixture->kinds, &kind, sizeof kind, error);
}

// MARK: - Results

uint64_t pks__kind_new_kib(const pks__kind_samples *kind) {
  uint64_t per_mille = kind->new_bytes * 1000 / pks__kind_sampled_bytes(kind);
  return kind->bytes / 1024 * per_mille / 1000;
}

bool pks__kind_is_worth_trying(const pks__kind_samples *kind) {
  bool is_known = pks__sample_count(&kind->trained) >= 8 && pks__sample_count(&kind->apart) >= 2;
  return is_known && pks__kind_new_kib(kind) >= PKS__KIND_BYTES_MIN / 1024;
}

// MARK: - Life

static void init_sample(pks__sample *sample, pks__scratch_folder *home) {
  pks__scratch_init(&sample->bytes, home);
  pks__scratch_init(&sample->lengths, home);
}

static void free_sample(pks__sample *sample) {
  pks__scratch_free(&sample->bytes);
  pks__scratch_free(&sample->lengths);
}

void pks__frame_grouping_samples_init(
  pks__frame_grouping_samples *out, pks__ingest *ingest, const pks__sample_source *source
) {
  *out = (pks__frame_grouping_samples){.ingest = ingest, .source = source, .forms = &ingest->forms};
  pks__scratch_folder *home = &ingest->staging->scratch;
  for (size_t i = 0; i < PKS_COUNT_OF(out->kinds); i++) {
    init_sample(&out->kinds[i].trained, home);
    init_sample(&out->kinds[i].apart, home);
  }
  init_sample(&out->mixture.sample, home);
  pks__scratch_init(&out->mixture.kinds, home);
}

void pks__frame_grouping_samples_free(pks__frame_grouping_samples *samples) {
  for (size_t i = 0; i < PKS_COUNT_OF(samples->kinds); i++) {
    free_sample(&samples->kinds[i].trained);
    free_sample(&samples->kinds[i].apart);
  }
  free_sample(&samples->mixture.sample);
  pks__scratch_free(&samples->mixture.kinds);
}

pks_status pks__frame_grouping_samples_read(pks__frame_grouping_samples *samples, bool *any, pks_error *error) {
  const pks__sample_source *source = samples->source;
  pks_status status = source->walk(source->context, count_name, samples, error);
  choose_kinds(samples);
  *any = false;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    samples->kinds[i].period = period_of(samples->kinds[i].bytes, STRETCH);
    *any = *any || samples->kinds[i].period > 0;
  }
  if (status || !*any) { return status; }
  return source->walk(source->context, sample_file, samples, error);
}

pks_status pks__frame_grouping_samples_read_mixture(pks__frame_grouping_samples *samples, pks_error *error) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) { bytes += samples->kinds[i].bytes; }
  samples->mixture.period = period_of(bytes, MIXTURE_STRETCH);
  return samples->source->walk(samples->source->context, sample_mixture, samples, error);
}
