#include "ingest/form_choice.h"

#include <string.h>

#include "base/memory.h"
#include "codec/dictionary_training.h"
#include "ingest/form_cost.h"
#include "store/chunk_lookup.h"
#include "store/version_dictionaries.h"

enum {
  NAMES_MAX = 64,                    // names that are counted apart
  KIND_BYTES_MIN = 2 * 1024 * 1024,  // below, a dictionary cannot pay, and a sample tells little
  STRETCH = 32 * 1024,
  SAMPLE_MIN = 256 * 1024,
  SAMPLE_MAX = 2 * 1024 * 1024,
  APART = 4,  // every so many stretches, one is kept apart
  DICTIONARY_MIN = 16 * 1024,
  DICTIONARY_MAX = 112 * 1024,
  // Of what shared frames take, such parts more are allowed: for a kind, of which little is tried, and for all together.
  ALLOWED_PART_OF_KIND = 64,
  ALLOWED_PART = 100,
  MIXTURE_STRETCH = 128 * 1024,  // long enough for neighbours of several kinds
  STORED_LEVEL = 12,             // of the dictionary itself
};

/// Files that were read: back to back, each with its length.
typedef struct sample {
  pks__scratch bytes;
  pks__scratch lengths;  ///< size_t
} sample;

typedef struct kind {
  uint64_t bytes;      ///< of all of its files
  uint64_t period;     ///< of its bytes, at the beginning of which a stretch lies; 0: it is not sampled
  uint64_t position;   ///< of the next file among its bytes
  uint64_t new_bytes;  ///< of the sample, in chunks that the store has not
  sample trained, apart;
} kind;

/// Small files of all kinds, as they follow each other.
typedef struct mixture {
  uint64_t period, position;  ///< as of a kind
  sample sample;
  pks__scratch kinds;  ///< uint32_t: the kind of each file
} mixture;

typedef struct counted_name {
  pks__kind_name name;
  uint64_t bytes;
} counted_name;

typedef struct chooser {
  pks__ingest *ingest;
  const pks__sample_source *source;
  pks__kind_forms *out;
  counted_name names[NAMES_MAX];  ///< those for which there is no place are counted with all others
  uint32_t name_count, last_name;
  kind kinds[PKS__KINDS_MAX + 1];
  mixture mixture;
} chooser;

// MARK: - Kinds

static bool is_small(const pks__sample_file *file) { return !file->is_mapped && file->size < PKS__LARGE_ASSET; }

static pks_status count_name(void *context, const pks__sample_file *file, pks_error *error) {
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

/// Adds a file to a sample, unless that is full, or the file cannot be read.
static pks_status read_file(
  const chooser *chooser, sample *out, const pks__sample_file *file, bool *is_read, pks_error *error
) {
  size_t length = (size_t)file->size;
  uint64_t begin = out->bytes.length;
  *is_read = false;
  if (begin + length > PKS__TRAINING_SAMPLE_MAX) { return PKS_OK; }
  pks_status status = pks__scratch_append(&out->bytes, NULL, length, error);
  if (status) { return status; }
  *is_read = chooser->source->read(chooser->source->context, file, out->bytes.bytes + begin);
  if (!*is_read) { out->bytes.length = begin; }
  return *is_read ? pks__scratch_append(&out->lengths, &length, sizeof length, error) : PKS_OK;
}

/// How far stretches of files are apart, in bytes of all of them.
static uint64_t period_of(uint64_t bytes, uint64_t stretch) {
  if (bytes < KIND_BYTES_MIN) { return 0; }
  uint64_t wanted = pks__min64(pks__max64(bytes / 16, SAMPLE_MIN), SAMPLE_MAX);
  return bytes / (wanted / stretch);
}

/// Samples a file that begins in the first part of a period.
static pks_status sample_file(void *context, const pks__sample_file *file, pks_error *error) {
  chooser *chooser = context;
  if (!is_small(file)) { return PKS_OK; }
  pks__kind_name name = pks__kind_name_of(file->path, file->path_length);
  kind *kind = &chooser->kinds[pks__kind_forms_find(chooser->out, &name)];
  uint64_t position = kind->position;
  kind->position += file->size;
  if (kind->period == 0 || position % kind->period >= STRETCH) { return PKS_OK; }
  bool is_apart = position / kind->period % APART == APART - 1, is_read;
  sample *sample = is_apart ? &kind->apart : &kind->trained;
  pks_status status = read_file(chooser, sample, file, &is_read, error);
  if (status || !is_read) { return status; }
  size_t length = (size_t)file->size;
  return count_new(chooser, kind, sample->bytes.bytes + sample->bytes.length - length, length, error);
}

// MARK: - What pays

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

/// The forms of a kind on trial. Kinds are tried at the same time, each by one thread.
typedef struct trial {
  pks__task task;
  const pks__ingest *ingest;
  const kind *kind;
  bool may_train;  ///< there is room for one more dictionary
  pks__kind_form *out;
  pks__form_cost cost;
  pks_status status;
  pks_error error;
} trial;

/// Bytes that what is new of the kind takes in a form.
static pks_status try_form(trial *trial, const pks__frame_form *form, uint64_t *bytes) {
  const sample *sample = &trial->kind->apart;
  pks__form_cost_begin(&trial->cost);
  const uint8_t *at = sample->bytes.bytes;
  for (unsigned i = 0; i < count_of(sample); at += length_at(sample, i++)) {
    pks__form_cost_add(&trial->cost, form, at, length_at(sample, i));
  }
  uint64_t total;
  if (!pks__form_cost_end(&trial->cost, &total)) { return pks__fail_memory(&trial->error); }
  *bytes = extrapolate(trial->kind, total);
  return PKS_OK;
}

// MARK: - Dictionaries

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

/// Trains a dictionary for the kind. Zeroed: there is none to be had.
static pks_status train(trial *trial, pks__frame_dictionary *out) {
  const sample *sample = &trial->kind->trained;
  size_t capacity = (size_t)pks__min64(pks__max64(trial->kind->bytes / 128, DICTIONARY_MIN), DICTIONARY_MAX);
  int level = trial->ingest->frames.level;
  uint8_t *bytes = pks__allocate(capacity);
  if (!bytes) { return pks__fail_memory(&trial->error); }
  size_t length = pks__train_dictionary(
    sample->bytes.bytes, PKS__SCRATCH_AT(&sample->lengths, const size_t, 0), count_of(sample), level, bytes, capacity
  );
  pks_status status = PKS_OK;
  if (length >= PKS__DICTIONARY_RAW_MIN) {
    status = store_dictionary(trial->ingest, bytes, length, &out->stored, &trial->error);
    bool is_bad = false;
    if (!status) { out->tables = pks__encoding_dictionary_create(bytes, length, level, &is_bad); }
    if (!status && !out->tables && !is_bad) { status = pks__fail_memory(&trial->error); }
  }
  pks__free(bytes);
  return status;
}

/// Gives the kind a dictionary of its own if what is new of it takes at most so many bytes with it.
static pks_status try_dictionary(trial *trial, uint64_t allowed) {
  pks__frame_dictionary *dictionary = &trial->out->dictionary;
  pks__frame_form form = {.is_alone = true, .dictionary = dictionary};
  uint64_t bytes = UINT64_MAX / 2;
  pks_status status = train(trial, dictionary);
  if (!status && dictionary->tables) { status = try_form(trial, &form, &bytes); }
  if (!status && bytes + dictionary->stored.stored_length <= allowed) {
    trial->out->form = form;
  } else {
    pks__frame_dictionary_free(dictionary);
  }
  return status;
}

static pks_status choose_form(trial *trial) {
  const kind *kind = trial->kind;
  uint64_t shared, alone, allowed;
  pks_status status = try_form(trial, &(pks__frame_form){0}, &shared);
  if (!status) { status = try_form(trial, &(pks__frame_form){.is_alone = true}, &alone); }
  if (status) { return status; }
  allowed = shared + shared / ALLOWED_PART_OF_KIND;
  // A few new chunks of a file compress better among those of others.
  bool is_mostly_new = kind->new_bytes > sampled_bytes(kind) / 4 * 3;
  trial->out->form.is_alone = is_mostly_new && alone <= allowed;
  if (!trial->may_train) { return PKS_OK; }
  // Copies in several segments take up to a 128th.
  uint64_t less = trial->out->form.is_alone ? alone - alone / 128 : UINT64_MAX;
  return try_dictionary(trial, pks__min64(less, allowed));
}

/// Whether enough of the kind is new, and enough was read of it to know.
static bool is_worth_trying(const kind *kind) {
  bool is_known = count_of(&kind->trained) >= 8 && count_of(&kind->apart) >= 2;
  return is_known && new_kib_of(kind) >= KIND_BYTES_MIN / 1024;
}

static bool open_cost(pks__form_cost *out, const pks__ingest *ingest) {
  return pks__form_cost_open(out, ingest->frames.level, &ingest->chunker, ingest->frames.shared_target);
}

static void run_trial(pks__task *task, uint32_t worker) {
  (void)worker;
  trial *trial = (struct trial *)(void *)task;
  bool has_memory = open_cost(&trial->cost, trial->ingest);
  trial->status = has_memory ? choose_form(trial) : pks__fail_memory(&trial->error);
  pks__form_cost_close(&trial->cost);
}

/// Tries the forms of each kind of which enough is there.
static pks_status try_kinds(chooser *chooser, bool may_train, pks_error *error) {
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
    trial->may_train = may_train;
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

// MARK: - The mixture

// Each asset that stays alone ends the frame that those before it share. So what kinds take by themselves is not what they take
// among each other, and that is tried as well.

/// Samples a file of any kind, and notes of which.
static pks_status sample_mixture(void *context, const pks__sample_file *file, pks_error *error) {
  chooser *chooser = context;
  mixture *mixture = &chooser->mixture;
  if (!is_small(file)) { return PKS_OK; }
  uint64_t position = mixture->position;
  mixture->position += file->size;
  if (position % mixture->period >= MIXTURE_STRETCH) { return PKS_OK; }
  bool is_read;
  pks_status status = read_file(chooser, &mixture->sample, file, &is_read, error);
  if (status || !is_read) { return status; }
  pks__kind_name name = pks__kind_name_of(file->path, file->path_length);
  uint32_t kind = pks__kind_forms_find(chooser->out, &name);
  return pks__scratch_append(&mixture->kinds, &kind, sizeof kind, error);
}

/// Which kinds stay alone.
typedef enum alone { ALONE_AS_CHOSEN, ALONE_WITH_DICTIONARY, ALONE_NONE } alone;

static pks__frame_form form_with(const pks__frame_form *chosen, alone alone) {
  bool stays = alone == ALONE_AS_CHOSEN || (alone == ALONE_WITH_DICTIONARY && chosen->dictionary);
  return stays ? *chosen : (pks__frame_form){0};
}

static bool measure_mixture(const chooser *chooser, pks__form_cost *cost, alone alone, uint64_t *total) {
  const mixture *mixture = &chooser->mixture;
  pks__form_cost_begin(cost);
  const uint8_t *at = mixture->sample.bytes.bytes;
  for (unsigned i = 0; i < count_of(&mixture->sample); at += length_at(&mixture->sample, i++)) {
    uint32_t kind = *PKS__SCRATCH_AT(&mixture->kinds, const uint32_t, i);
    pks__frame_form form = form_with(&chooser->out->kinds[kind].form, alone);
    pks__form_cost_add(cost, &form, at, length_at(&mixture->sample, i));
  }
  return pks__form_cost_end(cost, total);
}

/// As many kinds as pay among each other.
static pks_status measure(const chooser *chooser, alone *out, pks_error *error) {
  pks__form_cost cost;
  uint64_t shared, total;
  bool has_memory = open_cost(&cost, chooser->ingest) && measure_mixture(chooser, &cost, ALONE_NONE, &shared);
  for (*out = ALONE_AS_CHOSEN; has_memory && *out < ALONE_NONE; (*out)++) {
    has_memory = measure_mixture(chooser, &cost, *out, &total);
    if (has_memory && total <= shared + shared / ALLOWED_PART) { break; }
  }
  pks__form_cost_close(&cost);
  return has_memory ? PKS_OK : pks__fail_memory(error);
}

static pks_status try_mixture(chooser *chooser, pks_error *error) {
  if (!chooser->out->any_is_alone) { return PKS_OK; }
  uint64_t bytes = 0;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) { bytes += chooser->kinds[i].bytes; }
  chooser->mixture.period = period_of(bytes, MIXTURE_STRETCH);
  pks_status status = chooser->source->walk(chooser->source->context, sample_mixture, chooser, error);
  alone alone;
  if (!status) { status = measure(chooser, &alone, error); }
  if (status) { return status; }
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    pks__frame_form *form = &chooser->out->kinds[i].form;
    *form = form_with(form, alone);
  }
  return PKS_OK;
}

// MARK: - Life

static void init_sample(sample *sample, pks__scratch_folder *home) {
  pks__scratch_init(&sample->bytes, home);
  pks__scratch_init(&sample->lengths, home);
}

static void free_sample(sample *sample) {
  pks__scratch_free(&sample->bytes);
  pks__scratch_free(&sample->lengths);
}

static chooser *make_chooser(pks__ingest *ingest, const pks__sample_source *source) {
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
  init_sample(&chooser->mixture.sample, home);
  pks__scratch_init(&chooser->mixture.kinds, home);
  return chooser;
}

static void free_chooser(chooser *chooser) {
  for (size_t i = 0; i < PKS_COUNT_OF(chooser->kinds); i++) {
    free_sample(&chooser->kinds[i].trained);
    free_sample(&chooser->kinds[i].apart);
  }
  free_sample(&chooser->mixture.sample);
  pks__scratch_free(&chooser->mixture.kinds);
  pks__free(chooser);
}

static pks_status choose(chooser *chooser, bool may_train, pks_error *error) {
  const pks__sample_source *source = chooser->source;
  pks_status status = source->walk(source->context, count_name, chooser, error);
  choose_kinds(chooser);
  bool any = false;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    chooser->kinds[i].period = period_of(chooser->kinds[i].bytes, STRETCH);
    any = any || chooser->kinds[i].period > 0;
  }
  if (status || !any) { return status; }
  status = source->walk(source->context, sample_file, chooser, error);
  if (!status) { status = try_kinds(chooser, may_train, error); }
  return status ? status : try_mixture(chooser, error);
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

static pks_status choose_all(pks__ingest *ingest, const pks__sample_source *source, pks_error *error) {
  if (!is_wanted(ingest)) { return PKS_OK; }
  bool may_train;
  pks_status status = has_room(ingest, &may_train, error);
  if (status) { return status; }
  chooser *chooser = make_chooser(ingest, source);
  if (!chooser) { return pks__fail_memory(error); }
  status = choose(chooser, may_train, error);
  free_chooser(chooser);
  return status;
}

pks_status pks__form_choice_run(pks__ingest *ingest, const pks__sample_source *source, pks_error *error) {
  return ingest->request.dictionary ? take_given(ingest, error) : choose_all(ingest, source, error);
}
