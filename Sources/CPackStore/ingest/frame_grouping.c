#include "ingest/frame_grouping.h"

#include <string.h>

#include "base/memory.h"
#include "codec/dictionary_training.h"
#include "ingest/frame_grouping_compact.h"
#include "ingest/frame_grouping_cost.h"
#include "store/version_dictionaries.h"

enum {
  DICTIONARY_MIN = 16 * 1024,
  DICTIONARY_MAX = 112 * 1024,
  // Tolerated increase, as a part of the size with shared frames: for one kind, with a small sample, and for all kinds together.
  ALLOWED_PART_OF_KIND = 64,
  ALLOWED_PART = 100,
  STORED_LEVEL = 12,  // level for the dictionary itself
};

// MARK: - What pays

/// Estimates the size of a kind's new bytes from `total`, the size of the separate test files.
static uint64_t extrapolate(const pks__kind_samples *kind, uint64_t total) {
  uint64_t kib;
  if (pks__mul_overflows(total, pks__kind_new_kib(kind), &kib)) { return UINT64_MAX / 2; }
  return kib / kind->apart.bytes.length * 1024;
}

/// The forms of a kind on trial. Kinds are tried at the same time, each by one thread.
typedef struct trial {
  pks__task task;
  const pks__ingest *ingest;
  const pks__kind_samples *kind;
  bool may_train;  ///< there is room for one more dictionary
  pks__kind_form *out;
  pks__frame_grouping_cost cost;
  pks_status status;
  pks_error error;
} trial;

/// Estimates the size of a kind's new bytes in a form.
static pks_status try_form(trial *trial, const pks__frame_form *form, uint64_t *bytes) {
  const pks__sample *sample = &trial->kind->apart;
  pks__frame_grouping_cost_begin(&trial->cost);
  const uint8_t *at = sample->bytes.bytes;
  for (unsigned i = 0; i < pks__sample_count(sample); at += pks__sample_length(sample, i++)) {
    pks__frame_grouping_cost_add(&trial->cost, form, at, pks__sample_length(sample, i));
  }
  uint64_t total;
  if (!pks__frame_grouping_cost_end(&trial->cost, &total)) { return pks__fail_memory(&trial->error); }
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

/// Trains a dictionary for the kind. Zeroed if none can be trained.
static pks_status train(trial *trial, pks__frame_dictionary *out) {
  const pks__sample *sample = &trial->kind->trained;
  size_t capacity = (size_t)pks__min64(pks__max64(trial->kind->bytes / 128, DICTIONARY_MIN), DICTIONARY_MAX);
  int level = trial->ingest->frames.level;
  uint8_t *bytes = pks__allocate(capacity);
  if (!bytes) { return pks__fail_memory(&trial->error); }
  size_t length = pks__train_dictionary(
    sample->bytes.bytes, PKS__SCRATCH_AT(&sample->lengths, const size_t, 0), pks__sample_count(sample), level, bytes,
    capacity
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

/// Gives the kind a dictionary of its own if the estimated size with it is at most `allowed`.
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
  const pks__kind_samples *kind = trial->kind;
  uint64_t shared, alone, allowed;
  pks_status status = try_form(trial, &(pks__frame_form){0}, &shared);
  if (!status) { status = try_form(trial, &(pks__frame_form){.is_alone = true}, &alone); }
  if (status) { return status; }
  allowed = shared + shared / ALLOWED_PART_OF_KIND;
  // A few new chunks of a file compress better together with other files.
  bool is_mostly_new = kind->new_bytes > pks__kind_sampled_bytes(kind) / 4 * 3;
  trial->out->form.is_alone = is_mostly_new && alone <= allowed;
  if (!trial->may_train) { return PKS_OK; }
  // Copies in several segments take up to a 128th.
  uint64_t less = trial->out->form.is_alone ? alone - alone / 128 : UINT64_MAX;
  return try_dictionary(trial, pks__min64(less, allowed));
}

static bool open_cost(pks__frame_grouping_cost *out, const pks__ingest *ingest) {
  return pks__frame_grouping_cost_open(out, ingest->frames.level, &ingest->chunker, ingest->frames.shared_target);
}

static void run_trial(pks__task *task, uint32_t worker) {
  (void)worker;
  trial *trial = (struct trial *)(void *)task;
  bool has_memory = open_cost(&trial->cost, trial->ingest);
  trial->status = has_memory ? choose_form(trial) : pks__fail_memory(&trial->error);
  pks__frame_grouping_cost_close(&trial->cost);
}

/// Tries the forms of each kind with enough samples.
static pks_status try_kinds(const pks__frame_grouping_samples *samples, bool may_train, pks_error *error) {
  const pks__ingest *ingest = samples->ingest;
  pks__frame_grouping_kinds *forms = samples->forms;
  trial *trials = pks__allocate_zeroed(PKS__KINDS_MAX + 1, sizeof *trials);
  if (!trials) { return pks__fail_memory(error); }
  uint32_t count = 0;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    if (!pks__kind_is_worth_trying(&samples->kinds[i])) { continue; }
    trial *trial = &trials[count++];
    trial->task.run = run_trial;
    trial->ingest = ingest;
    trial->kind = &samples->kinds[i];
    trial->may_train = may_train;
    trial->out = &forms->kinds[i];
    pks__pool_submit(ingest->pool, &trial->task);
  }
  pks_status status = PKS_OK;
  for (uint32_t i = 0; i < count; i++) {
    const trial *trial = &trials[i];
    pks__pool_finish(ingest->pool, &trials[i].task);
    forms->any_is_alone = forms->any_is_alone || trial->out->form.is_alone;
    if (status || !trial->status) { continue; }
    status = trial->status;
    if (error) { *error = trial->error; }
  }
  pks__free(trials);
  return status;
}

// MARK: - The mixture

// Each asset that stays alone ends the frame shared by the assets before it. The sizes of kinds therefore depend on each other,
// which is tested as well.

/// Which kinds stay alone.
typedef enum alone { ALONE_AS_CHOSEN, ALONE_WITH_DICTIONARY, ALONE_NONE } alone;

static pks__frame_form form_with(const pks__frame_form *chosen, alone alone) {
  bool stays = alone == ALONE_AS_CHOSEN || (alone == ALONE_WITH_DICTIONARY && chosen->dictionary);
  return stays ? *chosen : (pks__frame_form){0};
}

/// The size of the mixture if these kinds stay alone.
typedef struct measurement {
  pks__task task;
  const pks__frame_grouping_samples *samples;
  alone alone;
  uint64_t total;  ///< bytes of its frames
  bool has_memory;
} measurement;

static bool measure(const measurement *measurement, pks__frame_grouping_cost *cost, uint64_t *total) {
  const pks__mixture *mixture = &measurement->samples->mixture;
  pks__frame_grouping_cost_begin(cost);
  const uint8_t *at = mixture->sample.bytes.bytes;
  for (unsigned i = 0; i < pks__sample_count(&mixture->sample); at += pks__sample_length(&mixture->sample, i++)) {
    uint32_t kind = *PKS__SCRATCH_AT(&mixture->kinds, const uint32_t, i);
    pks__frame_form form = form_with(&measurement->samples->forms->kinds[kind].form, measurement->alone);
    pks__frame_grouping_cost_add(cost, &form, at, pks__sample_length(&mixture->sample, i));
  }
  return pks__frame_grouping_cost_end(cost, total);
}

static void run_measurement(pks__task *task, uint32_t worker) {
  (void)worker;
  measurement *measurement = (struct measurement *)(void *)task;
  pks__frame_grouping_cost cost;
  measurement->has_memory =
    open_cost(&cost, measurement->samples->ingest) && measure(measurement, &cost, &measurement->total);
  pks__frame_grouping_cost_close(&cost);
}

/// As many kinds as pay among each other.
static pks_status choose_alone(const pks__frame_grouping_samples *samples, alone *out, pks_error *error) {
  measurement all[ALONE_NONE + 1];
  pks__pool *pool = samples->ingest->pool;
  for (uint32_t i = 0; i <= ALONE_NONE; i++) {
    all[i] = (measurement){.task.run = run_measurement, .samples = samples, .alone = (alone)i};
  }
  // Whether fewer kinds pay is seldom asked.
  pks__pool_submit(pool, &all[ALONE_NONE].task);
  pks__pool_submit(pool, &all[ALONE_AS_CHOSEN].task);
  pks__pool_finish(pool, &all[ALONE_NONE].task);
  pks__pool_finish(pool, &all[ALONE_AS_CHOSEN].task);
  uint64_t allowed = all[ALONE_NONE].total + all[ALONE_NONE].total / ALLOWED_PART;
  bool has_memory = all[ALONE_NONE].has_memory && all[ALONE_AS_CHOSEN].has_memory;
  *out = ALONE_AS_CHOSEN;
  if (has_memory && all[ALONE_AS_CHOSEN].total > allowed) {
    run_measurement(&all[ALONE_WITH_DICTIONARY].task, 0);
    has_memory = all[ALONE_WITH_DICTIONARY].has_memory;
    *out = all[ALONE_WITH_DICTIONARY].total <= allowed ? ALONE_WITH_DICTIONARY : ALONE_NONE;
  }
  return has_memory ? PKS_OK : pks__fail_memory(error);
}

static pks_status try_mixture(pks__frame_grouping_samples *samples, pks_error *error) {
  if (!samples->forms->any_is_alone) { return PKS_OK; }
  alone alone;
  pks_status status = choose_alone(samples, &alone, error);
  if (status) { return status; }
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    pks__frame_form *form = &samples->forms->kinds[i].form;
    *form = form_with(form, alone);
  }
  return PKS_OK;
}

// MARK: - All of it

static bool any_is_worth_trying(const pks__frame_grouping_samples *samples) {
  bool any = false;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) { any = any || pks__kind_is_worth_trying(&samples->kinds[i]); }
  return any;
}

static pks_status choose(pks__frame_grouping_samples *samples, bool may_train, pks_error *error) {
  bool any;
  pks_status status = pks__frame_grouping_samples_read(samples, &any, error);
  if (status || !any || !any_is_worth_trying(samples)) { return status; }
  status = try_kinds(samples, may_train, error);
  if (!status) { status = pks__frame_grouping_samples_read_mixture(samples, error); }
  if (!status) { status = try_mixture(samples, error); }
  if (status) { return status; }
  return pks__frame_grouping_compact_estimate(samples, &samples->ingest->result.compact_saved_bytes, error);
}

/// Only with the layout for reading at random: in the others, small assets share frames for the sake of size.
static bool is_wanted(const pks__ingest *ingest) {
  const pks_add_request *request = &ingest->request;
  return request->layout == PKS_LAYOUT_RANDOM && request->shared_frame_size == 0
    && ingest->bytes_expected >= PKS__KIND_BYTES_MIN;
}

/// Takes the dictionary that the request brings for all kinds.
static pks_status take_given(pks__ingest *ingest, pks_error *error) {
  const pks_add_request *request = &ingest->request;
  pks__frame_grouping_kinds *out = &ingest->forms;
  pks__kind_form *all = &out->kinds[PKS__KINDS_MAX];
  pks__frame_dictionary *dictionary = &all->dictionary;
  size_t length = request->dictionary_byte_count;
  pks_status status = store_dictionary(ingest, request->dictionary, length, &dictionary->stored, error);
  if (status) { return status; }
  bool is_bad;
  dictionary->tables = pks__encoding_dictionary_create(request->dictionary, length, ingest->frames.level, &is_bad);
  // An invalid dictionary was refused before (`pks__txn_check_encoding`).
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
  pks__frame_grouping_samples *samples = pks__allocate_zeroed(1, sizeof *samples);
  if (!samples) { return pks__fail_memory(error); }
  pks__frame_grouping_samples_init(samples, ingest, source);
  status = choose(samples, may_train, error);
  pks__frame_grouping_samples_free(samples);
  pks__free(samples);
  return status;
}

pks_status pks__frame_grouping_run(pks__ingest *ingest, const pks__sample_source *source, pks_error *error) {
  return ingest->request.dictionary ? take_given(ingest, error) : choose_all(ingest, source, error);
}
