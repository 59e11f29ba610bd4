#include "ingest/form_choice.h"

#include <string.h>

#include "base/memory.h"
#include "codec/dictionary_training.h"
#include "store/chunk_lookup.h"
#include "store/version_dictionaries.h"

enum {
  NAMES_MAX = 64,                    // names that are counted apart
  KIND_BYTES_MIN = 2 * 1024 * 1024,  // below, a dictionary cannot pay
  STRETCH = 32 * 1024,
  SAMPLE_MIN = 256 * 1024,
  SAMPLE_MAX = 2 * 1024 * 1024,
  APART = 4,  // every so many stretches, one is kept apart
  DICTIONARY_MIN = 16 * 1024,
  DICTIONARY_MAX = 112 * 1024,
  ALLOWED_PART = 100,              // of what shared frames take, so much more is allowed
  ROWS_OF_A_FRAME = 24 + 32 + 48,  // bytes: in a segment, a run and a frame table
  STORED_LEVEL = 12,               // of the dictionary itself
  TRIAL_FRAME_MAX = 2 * PKS__LARGE_ASSET,
};

/// Files that were read: back to back, each with its length.
typedef struct sample {
  pks__scratch bytes;
  pks__scratch lengths;    ///< size_t
  pks__scratch stretches;  ///< uint64_t: number of the stretch of each file
} sample;

typedef struct kind {
  uint64_t bytes;      ///< of all of its files
  uint64_t period;     ///< of its bytes, at the beginning of which a stretch lies; 0: it is not sampled
  uint64_t position;   ///< of the next file among its bytes
  uint64_t new_bytes;  ///< of the sample, in chunks that the store has not
  sample trained, apart;
} kind;

typedef struct counted_name {
  pks__kind_name name;
  uint64_t bytes;
} counted_name;

typedef struct chooser {
  pks__ingest *ingest;
  const pks__training_source *source;
  pks__kind_forms *out;
  counted_name names[NAMES_MAX];  ///< those for which there is no place are counted with all others
  uint32_t name_count, last_name;
  kind kinds[PKS__KINDS_MAX + 1];
} chooser;

// MARK: - Kinds

static bool is_small(const pks__training_file *file) { return !file->is_mapped && file->size < PKS__LARGE_ASSET; }

static pks_status count_name(void *context, const pks__training_file *file, pks_error *error) {
  (void)error;
  chooser *chooser = context;
  if (!is_small(file)) { return PKS_OK; }
  pks__kind_name name = pks__kind_name_of(file->path, file->path_length);
  counted_name *names = chooser->names;
  chooser->kinds[PKS__KINDS_MAX].bytes += file->size;
  // Neighbours are often alike.
  uint32_t count = chooser->name_count, at = chooser->last_name;
  bool is_last = at < count && memcmp(&names[at].name, &name, sizeof name) == 0;
  if (!is_last) {
    for (at = 0; at < count && memcmp(&names[at].name, &name, sizeof name) != 0;) { at++; }
  }
  if (at == NAMES_MAX) { return PKS_OK; }
  if (at == count) { names[chooser->name_count++] = (counted_name){.name = name}; }
  names[at].bytes += file->size;
  chooser->last_name = at;
  return PKS_OK;
}

/// Makes kinds of the names with most bytes. What they leave is the kind of all others.
static void choose_kinds(chooser *chooser) {
  pks__kind_forms *out = chooser->out;
  uint64_t *left = &chooser->kinds[PKS__KINDS_MAX].bytes;
  while (out->count < PKS__KINDS_MAX) {
    counted_name *most = NULL;
    for (uint32_t i = 0; i < chooser->name_count; i++) {
      if (!most || chooser->names[i].bytes > most->bytes) { most = &chooser->names[i]; }
    }
    if (!most || most->bytes < KIND_BYTES_MIN) { break; }
    out->kinds[out->count].name = most->name;
    chooser->kinds[out->count++].bytes = most->bytes;
    *left -= most->bytes;
    most->bytes = 0;
  }
}

// MARK: - The sample

static unsigned count_of(const sample *sample) { return (unsigned)PKS__SCRATCH_COUNT(&sample->lengths, size_t); }

static size_t length_at(const sample *sample, unsigned index) {
  return *PKS__SCRATCH_AT(&sample->lengths, const size_t, index);
}

/// Counts what of a file lies in chunks that the store has not.
static pks_status count_new(chooser *chooser, kind *kind, const uint8_t *bytes, size_t length, pks_error *error) {
  pks__ingest *ingest = chooser->ingest;
  pks_status status = PKS_OK;
  for (size_t at = 0; !status && at < length;) {
    size_t chunk = pks__chunker_cut(&ingest->chunker, bytes + at, length - at);
    pks__id id;
    pks__chunk_ref ref;
    bool found = false;
    ingest->staging->store->sha256(bytes + at, chunk, id.bytes);
    status = pks__snapshot_find_chunk(ingest->base, &id, PKS__SEGMENT_DATA, &ref, &found, error);
    if (!found) { kind->new_bytes += chunk; }
    at += chunk;
  }
  return status;
}

static pks_status add_file(
  chooser *chooser, kind *kind, const pks__training_file *file, uint64_t stretch, pks_error *error
) {
  sample *sample = stretch % APART == APART - 1 ? &kind->apart : &kind->trained;
  size_t length = (size_t)file->size;
  if (sample->bytes.length + length > PKS__TRAINING_SAMPLE_MAX) { return PKS_OK; }
  uint64_t begin = sample->bytes.length;
  pks_status status = pks__scratch_append(&sample->bytes, NULL, length, error);
  if (status) { return status; }
  uint8_t *bytes = sample->bytes.bytes + begin;
  if (!chooser->source->read(chooser->source->context, file, bytes)) {
    sample->bytes.length = begin;
    return PKS_OK;
  }
  status = pks__scratch_append(&sample->lengths, &length, sizeof length, error);
  if (!status) { status = pks__scratch_append(&sample->stretches, &stretch, sizeof stretch, error); }
  return status ? status : count_new(chooser, kind, bytes, length, error);
}

/// How far stretches of a kind are apart, in bytes of the kind.
static uint64_t period_of(uint64_t kind_bytes) {
  uint64_t wanted = kind_bytes / 16;
  if (kind_bytes < KIND_BYTES_MIN) { return 0; }
  wanted = wanted < SAMPLE_MIN ? SAMPLE_MIN : wanted < SAMPLE_MAX ? wanted : SAMPLE_MAX;
  return kind_bytes / (wanted / STRETCH);
}

/// Samples a file that begins in the first part of a period.
static pks_status sample_file(void *context, const pks__training_file *file, pks_error *error) {
  chooser *chooser = context;
  if (!is_small(file)) { return PKS_OK; }
  pks__kind_name name = pks__kind_name_of(file->path, file->path_length);
  kind *kind = &chooser->kinds[pks__kind_forms_find(chooser->out, &name)];
  uint64_t position = kind->position;
  kind->position += file->size;
  if (kind->period == 0 || position % kind->period >= STRETCH) { return PKS_OK; }
  return add_file(chooser, kind, file, position / kind->period, error);
}

// MARK: - Whether it pays

/// The forms of a kind on trial. Kinds are tried at the same time, each by one thread.
typedef struct trial {
  pks__task task;
  const pks__ingest *ingest;
  const kind *kind;
  pks__kind_form *out;
  uint8_t *bytes;  ///< of a dictionary
  size_t length;
  pks__encoder *encoder;
  uint8_t *encoded;  ///< room for a frame of TRIAL_FRAME_MAX bytes
  pks_status status;
  pks_error error;
} trial;

/// Adds what a frame takes in a store, rows included. False when memory is short.
static bool add_frame(
  trial *trial, const pks__encoding_dictionary *tables, const uint8_t *raw, size_t length, uint64_t *total
) {
  size_t capacity = pks__encode_capacity(TRIAL_FRAME_MAX);
  size_t stored = tables ? pks__encode_with(trial->encoder, tables, raw, length, trial->encoded, capacity)
                         : pks__encode(trial->encoder, raw, length, trial->encoded, capacity);
  *total += ROWS_OF_A_FRAME + (stored ? stored : length);
  return stored != SIZE_MAX;
}

/// What the files that were kept apart take, alone or in shared frames.
static pks_status measure(trial *trial, bool is_alone, const pks__encoding_dictionary *tables, uint64_t *total) {
  const sample *sample = &trial->kind->apart;
  const uint64_t *stretches = PKS__SCRATCH_AT(&sample->stretches, const uint64_t, 0);
  size_t begin = 0, length = 0;
  bool has_memory = true;
  *total = 0;
  for (unsigned i = 0; has_memory && i < count_of(sample); i++) {
    size_t next = length_at(sample, i);
    bool follows = length > 0 && stretches[i] == stretches[i - 1];
    bool fits = is_alone ? length < PKS__ALONE_FROM && next < PKS__ALONE_FROM
                         : length + next <= trial->ingest->frames.shared_target;
    if (length > 0 && !(follows && fits)) {
      has_memory = add_frame(trial, tables, sample->bytes.bytes + begin, length, total);
      begin += length;
      length = 0;
    }
    length += next;
  }
  if (has_memory && length > 0) { has_memory = add_frame(trial, tables, sample->bytes.bytes + begin, length, total); }
  return has_memory ? PKS_OK : pks__fail_memory(&trial->error);
}

static uint64_t sampled_bytes(const kind *kind) { return kind->trained.bytes.length + kind->apart.bytes.length; }

/// KiB of the kind that are new, if the sample is like all of it. Whole numbers, which are the same on every processor.
static uint64_t new_kib_of(const kind *kind) {
  uint64_t per_mille = kind->new_bytes * 1000 / sampled_bytes(kind);
  return kind->bytes / 1024 * per_mille / 1000;
}

/// Bytes that what is new of a kind takes, if `total` is what the files take that were kept apart.
static uint64_t extrapolate(const kind *kind, uint64_t total) {
  uint64_t kib;
  if (pks__mul_overflows(total, new_kib_of(kind), &kib)) { return UINT64_MAX / 2; }
  return kib / kind->apart.bytes.length * 1024;
}

/// Bytes that what is new of the kind takes in a form.
static pks_status try_form(trial *trial, bool is_alone, const pks__encoding_dictionary *tables, uint64_t *bytes) {
  uint64_t total;
  pks_status status = measure(trial, is_alone, tables, &total);
  if (!status) { *bytes = extrapolate(trial->kind, total); }
  return status;
}

// MARK: - Training

/// The form in which segments have a dictionary.
static pks_status store_dictionary(
  const pks__ingest *ingest, const uint8_t *bytes, size_t length, pks__stored_dictionary *out, pks_error *error
) {
  pks__encoder *encoder = pks__encoder_create(STORED_LEVEL);
  uint8_t *stored = pks__allocate(pks__encode_capacity(length));
  size_t stored_length =
    encoder && stored ? pks__encode(encoder, bytes, length, stored, pks__encode_capacity(length)) : SIZE_MAX;
  pks__encoder_destroy(encoder);
  if (stored_length == SIZE_MAX) {
    pks__free(stored);
    return pks__fail_memory(error);
  }
  if (stored_length == 0) { memcpy(stored, bytes, length); }
  *out = (pks__stored_dictionary){
    .codec = stored_length ? PKS__CODEC_ZSTD : PKS__CODEC_RAW,
    .stored_length = (uint32_t)(stored_length ? stored_length : length),
    .raw_length = (uint32_t)length,
    .stored = stored,
  };
  ingest->staging->store->sha256(bytes, length, out->id.bytes);
  return PKS_OK;
}

/// Gives the kind its dictionary if what is new of it takes at most so many bytes with it.
static pks_status try_dictionary(trial *trial, uint64_t allowed) {
  pks__frame_dictionary *dictionary = &trial->out->dictionary;
  pks_status status = store_dictionary(trial->ingest, trial->bytes, trial->length, &dictionary->stored, &trial->error);
  if (status) { return status; }
  bool is_bad;
  int level = trial->ingest->frames.level;
  dictionary->tables = pks__encoding_dictionary_create(trial->bytes, trial->length, level, &is_bad);
  if (!dictionary->tables) { return is_bad ? PKS_OK : pks__fail_memory(&trial->error); }
  uint64_t bytes;
  status = try_form(trial, true, dictionary->tables, &bytes);
  bool pays = !status && bytes + dictionary->stored.stored_length <= allowed;
  if (pays) { trial->out->form = (pks__frame_form){.is_alone = true, .dictionary = dictionary}; }
  return status;
}

static pks_status choose_form(trial *trial) {
  uint64_t shared, alone;
  pks_status status = try_form(trial, false, NULL, &shared);
  if (!status) { status = try_form(trial, true, NULL, &alone); }
  if (status) { return status; }
  uint64_t allowed = shared + shared / ALLOWED_PART;
  trial->out->form.is_alone = alone <= allowed;
  return trial->length >= PKS__DICTIONARY_RAW_MIN ? try_dictionary(trial, pks__min64(alone, allowed)) : PKS_OK;
}

/// Whether enough of the kind is new, and enough was read of it to know.
static bool is_worth_trying(const kind *kind) {
  bool is_known = count_of(&kind->trained) >= 8 && count_of(&kind->apart) >= 2;
  return is_known && new_kib_of(kind) >= KIND_BYTES_MIN / 1024;
}

static pks_status try_kind(trial *trial) {
  const kind *kind = trial->kind;
  size_t capacity = (size_t)pks__min64(pks__max64(kind->bytes / 128, DICTIONARY_MIN), DICTIONARY_MAX);
  trial->bytes = pks__allocate(capacity);
  trial->encoded = pks__allocate(pks__encode_capacity(TRIAL_FRAME_MAX));
  trial->encoder = pks__encoder_create(trial->ingest->frames.level);
  if (!trial->bytes || !trial->encoded || !trial->encoder) { return pks__fail_memory(&trial->error); }
  const sample *sample = &kind->trained;
  trial->length = pks__train_dictionary(
    sample->bytes.bytes, PKS__SCRATCH_AT(&sample->lengths, const size_t, 0), count_of(sample),
    trial->ingest->frames.level, trial->bytes, capacity
  );
  return choose_form(trial);
}

static void run_trial(pks__task *task, uint32_t worker) {
  (void)worker;
  trial *trial = (struct trial *)(void *)task;
  trial->status = try_kind(trial);
  pks__encoder_destroy(trial->encoder);
  pks__free(trial->encoded);
  pks__free(trial->bytes);
}

/// Tries the forms of each kind of which enough is there.
static pks_status try_kinds(chooser *chooser, pks_error *error) {
  const pks__ingest *ingest = chooser->ingest;
  trial *trials = pks__allocate_zeroed(PKS__KINDS_MAX + 1, sizeof *trials);
  if (!trials) { return pks__fail_memory(error); }
  uint32_t count = 0;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    if (!is_worth_trying(&chooser->kinds[i])) { continue; }
    trial *trial = &trials[count++];
    trial->task.run = run_trial;
    trial->ingest = ingest;
    trial->kind = &chooser->kinds[i];
    trial->out = &chooser->out->kinds[i];
    pks__pool_submit(ingest->pool, &trial->task);
  }
  pks_status status = PKS_OK;
  for (uint32_t i = 0; i < count; i++) {
    const trial *trial = &trials[i];
    pks__pool_finish(ingest->pool, &trials[i].task);
    chooser->out->any_is_alone = chooser->out->any_is_alone || trial->out->form.is_alone;
    if (status || !trial->status) { continue; }
    status = trial->status;
    if (error) { *error = trial->error; }
  }
  pks__free(trials);
  return status;
}

// MARK: - Life

static void init_sample(sample *sample, pks__scratch_folder *home) {
  pks__scratch_init(&sample->bytes, home);
  pks__scratch_init(&sample->lengths, home);
  pks__scratch_init(&sample->stretches, home);
}

static void free_sample(sample *sample) {
  pks__scratch_free(&sample->bytes);
  pks__scratch_free(&sample->lengths);
  pks__scratch_free(&sample->stretches);
}

static chooser *make_chooser(pks__ingest *ingest, const pks__training_source *source) {
  chooser *chooser = pks__allocate_zeroed(1, sizeof *chooser);
  if (!chooser) { return NULL; }
  chooser->ingest = ingest;
  chooser->source = source;
  chooser->out = &ingest->forms;
  pks__scratch_folder *home = &ingest->staging->scratch;
  for (size_t i = 0; i < PKS_COUNT_OF(chooser->kinds); i++) {
    init_sample(&chooser->kinds[i].trained, home);
    init_sample(&chooser->kinds[i].apart, home);
  }
  return chooser;
}

static void free_chooser(chooser *chooser) {
  for (size_t i = 0; i < PKS_COUNT_OF(chooser->kinds); i++) {
    free_sample(&chooser->kinds[i].trained);
    free_sample(&chooser->kinds[i].apart);
  }
  pks__free(chooser);
}

static pks_status choose(chooser *chooser, pks_error *error) {
  const pks__training_source *source = chooser->source;
  pks_status status = source->walk(source->context, count_name, chooser, error);
  choose_kinds(chooser);
  bool any = false;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    chooser->kinds[i].period = period_of(chooser->kinds[i].bytes);
    any = any || chooser->kinds[i].period > 0;
  }
  if (status || !any) { return status; }
  status = source->walk(source->context, sample_file, chooser, error);
  return status ? status : try_kinds(chooser, error);
}

/// Only with the layout for reading at random: in the others, small assets share frames for the sake of size.
static bool is_wanted(const pks__ingest *ingest) {
  const pks_add_request *request = &ingest->request;
  return request->layout == PKS_LAYOUT_RANDOM && request->shared_frame_size == 0
    && ingest->bytes_expected >= KIND_BYTES_MIN;
}

/// Takes the dictionary that the request brings for all kinds.
static pks_status take_given(pks__ingest *ingest, pks_error *error) {
  const pks_add_request *request = &ingest->request;
  pks__kind_forms *out = &ingest->forms;
  pks__kind_form *all = &out->kinds[PKS__KINDS_MAX];
  pks__frame_dictionary *dictionary = &all->dictionary;
  size_t length = request->dictionary_byte_count;
  pks_status status = store_dictionary(ingest, request->dictionary, length, &dictionary->stored, error);
  if (status) { return status; }
  bool is_bad;
  dictionary->tables = pks__encoding_dictionary_create(request->dictionary, length, ingest->frames.level, &is_bad);
  // What is bad was refused before (`pks__txn_check_encoding`).
  if (!dictionary->tables) { return pks__fail_memory(error); }
  all->form = (pks__frame_form){.is_alone = true, .dictionary = dictionary};
  out->any_is_alone = true;
  return PKS_OK;
}

/// The dictionaries that a version has already, each once.
typedef struct known_ids {
  pks__id ids[PKS__DICTIONARIES_MAX];
  uint32_t count;
} known_ids;

static bool note_known(
  void *context, pks__segment *segment, uint32_t number, const pks__segment_dictionary *dictionary
) {
  (void)segment;
  (void)number;
  known_ids *known = context;
  for (uint32_t i = 0; i < known->count; i++) {
    if (pks__id_equal(&known->ids[i], &dictionary->id)) { return true; }
  }
  known->ids[known->count++] = dictionary->id;
  return known->count < PKS__DICTIONARIES_MAX;
}

/// Whether the version may need as many dictionaries more as there are kinds.
static pks_status has_room(const pks__ingest *ingest, bool *has, pks_error *error) {
  const pks__version *current = pks__generation_current(&ingest->base->generation, ingest->request.pack);
  known_ids known = {.count = 0};
  pks_status status = PKS_OK;
  pks_error found = {0};
  if (current) { status = pks__version_dictionaries_visit(ingest->base, current, note_known, &known, &found); }
  *has = !status && known.count + PKS__KINDS_MAX + 1 <= PKS__DICTIONARIES_MAX;
  // A version that is damaged is healed by being added again.
  if (status == PKS_CORRUPT || status == PKS_PURGED) { return PKS_OK; }
  if (status && error) { *error = found; }
  return status;
}

static pks_status choose_all(pks__ingest *ingest, const pks__training_source *source, pks_error *error) {
  bool has = false;
  pks_status status = is_wanted(ingest) ? has_room(ingest, &has, error) : PKS_OK;
  if (status || !has) { return status; }
  chooser *chooser = make_chooser(ingest, source);
  if (!chooser) { return pks__fail_memory(error); }
  status = choose(chooser, error);
  free_chooser(chooser);
  return status;
}

pks_status pks__form_choice_run(pks__ingest *ingest, const pks__training_source *source, pks_error *error) {
  return ingest->request.dictionary ? take_given(ingest, error) : choose_all(ingest, source, error);
}
