#include "transfer/delivery_dictionaries.h"

#include "store/version_dictionaries.h"

enum { NO_DICTIONARY = UINT32_MAX };

void pks__delivery_dictionaries_init(
  pks__delivery_dictionaries *dictionaries, pks__delivery_context *context, pks__delivery_requests *requests,
  const pks__delivery_plan *plan
) {
  *dictionaries = (pks__delivery_dictionaries){.context = context, .requests = requests, .plan = plan};
  pks__scratch *arrays[] = {&dictionaries->list, &dictionaries->of_frames, &dictionaries->stored};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), NULL, 0);
}

static uint32_t count_of(const pks__delivery_dictionaries *dictionaries) {
  return (uint32_t)PKS__SCRATCH_COUNT(&dictionaries->list, pks__needed_dictionary);
}

static pks__needed_dictionary *needed_at(const pks__delivery_dictionaries *dictionaries, uint32_t index) {
  return PKS__SCRATCH_AT(&dictionaries->list, pks__needed_dictionary, index);
}

static uint32_t find(const pks__delivery_dictionaries *dictionaries, const pks__id *id) {
  uint32_t index = 0;
  while (index < count_of(dictionaries) && !pks__id_equal(&needed_at(dictionaries, index)->tabled.id, id)) { index++; }
  return index;
}

const pks__needed_dictionary *pks__delivery_dictionaries_of(
  const pks__delivery_dictionaries *dictionaries, uint32_t planned_frame
) {
  uint32_t index = *PKS__SCRATCH_AT(&dictionaries->of_frames, const uint32_t, planned_frame);
  return index == NO_DICTIONARY ? NULL : needed_at(dictionaries, index);
}

pks__stored_dictionary pks__delivery_dictionaries_stored(
  const pks__delivery_dictionaries *dictionaries, const pks__needed_dictionary *needed
) {
  return (pks__stored_dictionary){
    .id = needed->tabled.id,
    .codec = needed->codec,
    .stored_length = needed->stored_length,
    .raw_length = needed->tabled.raw_length,
    .stored = needed->is_held ? dictionaries->stored.bytes + needed->stored_at : NULL,
  };
}

// MARK: - What is needed

static pks_status list_dictionary(
  pks__delivery_dictionaries *dictionaries, uint32_t segment, const pks__tabled_dictionary *tabled, pks_error *error
) {
  if (count_of(dictionaries) == PKS__NEEDED_DICTIONARIES_MAX) {
    return pks__delivery_corrupt(dictionaries->context, "the version needs too many dictionaries", error);
  }
  pks__needed_dictionary needed = {
    .tabled = *tabled,
    .segment = segment,
    .codec = tabled->codec,
    .stored_length = tabled->stored_length,
  };
  return pks__scratch_append(&dictionaries->list, &needed, sizeof needed, error);
}

static pks_status list_frame(pks__delivery_dictionaries *dictionaries, uint32_t number, pks_error *error) {
  const pks__delivery_plan *plan = dictionaries->plan;
  const pks__planned_frame *planned = pks__delivery_plan_frame(plan, number);
  pks__frame_table table = pks__delivery_site_table(plan->site, planned->segment);
  pks__tabled_frame frame = pks__frame_table_at(&table, planned->frame);
  uint32_t index = NO_DICTIONARY;
  pks_status status = PKS_OK;
  if (pks__codec_has_dictionary(frame.codec)) {
    pks__tabled_dictionary tabled = pks__frame_table_dictionary(&table, frame.codec - PKS__CODEC_DICTIONARY);
    index = find(dictionaries, &tabled.id);
    if (index == count_of(dictionaries)) { status = list_dictionary(dictionaries, planned->segment, &tabled, error); }
    if (status) { return status; }
    needed_at(dictionaries, index)->frame_bytes += frame.stored_length;
  }
  return pks__scratch_append(&dictionaries->of_frames, &index, sizeof index, error);
}

// MARK: - What is held

/// Takes stored bytes that decode to the dictionary. `*fits` is false when they do not.
static pks_status hold(
  pks__delivery_dictionaries *dictionaries, pks__needed_dictionary *needed, const pks__stored_dictionary *stored,
  bool *fits, pks_error *error
) {
  // Checked whatever its name: a copy is passed on as stored.
  pks_status status = pks__stored_dictionary_check(stored, dictionaries->context->store->sha256, fits, error);
  if (status || !*fits) { return status; }
  needed->stored_at = dictionaries->stored.length;
  status = pks__scratch_append(&dictionaries->stored, stored->stored, stored->stored_length, error);
  needed->codec = stored->codec;
  needed->stored_length = stored->stored_length;
  needed->is_held = !status;
  return status;
}

/// Adds the dictionaries that an interrupted delivery fetched.
static pks_status hold_fetched(
  pks__delivery_dictionaries *dictionaries, pks__needed_dictionary *needed, pks_error *error
) {
  pks__scratch bytes;
  bool found, fits;
  pks__scratch_init(&bytes, &dictionaries->context->home);
  pks_status status =
    pks__transfer_staging_get_blob(&dictionaries->context->incoming, &needed->tabled.digest, &bytes, &found, error);
  if (!status && found && bytes.length == needed->tabled.stored_length) {
    pks__stored_dictionary stored = pks__delivery_dictionaries_stored(dictionaries, needed);
    stored.stored = bytes.bytes;
    status = hold(dictionaries, needed, &stored, &fits, error);
  }
  pks__scratch_free(&bytes);
  return status;
}

typedef struct local_search {
  pks__delivery_dictionaries *dictionaries;
  pks_status status;
  pks_error *error;
} local_search;

/// Takes a dictionary of the store, if it is needed and can be read.
static bool hold_local(
  void *context, pks__segment *segment, uint32_t number, const pks__segment_dictionary *dictionary
) {
  local_search *search = context;
  pks__delivery_dictionaries *dictionaries = search->dictionaries;
  uint32_t index = find(dictionaries, &dictionary->id);
  if (index == count_of(dictionaries) || needed_at(dictionaries, index)->is_held) { return true; }
  pks__stored_dictionary stored;
  pks__scratch bytes;
  bool fits;
  pks__scratch_init(&bytes, &dictionaries->context->home);
  if (!pks__stored_dictionary_read(segment, PKS__CODEC_DICTIONARY + number, &bytes, &stored, NULL)) {
    search->status = hold(dictionaries, needed_at(dictionaries, index), &stored, &fits, search->error);
  }
  pks__scratch_free(&bytes);
  return search->status == PKS_OK;
}

/// Adds the dictionaries of the pack's current version. An unreadable layout is ignored.
static pks_status hold_locals(pks__delivery_dictionaries *dictionaries, pks_error *error) {
  pks_snapshot *base = dictionaries->context->base;
  const pks__version *current = pks__generation_current(&base->generation, dictionaries->context->pack);
  local_search search = {.dictionaries = dictionaries, .error = error};
  if (!current || count_of(dictionaries) == 0) { return PKS_OK; }
  (void)pks__version_dictionaries_visit(base, current, hold_local, &search, NULL);
  return search.status;
}

// MARK: - What comes

static pks_status request(pks__delivery_dictionaries *dictionaries, uint32_t index, pks_error *error) {
  const pks__needed_dictionary *needed = needed_at(dictionaries, index);
  pks__byte_request request = {
    .kind = PKS__REQUEST_DICTIONARY,
    .segment = needed->segment,
    .offset = needed->tabled.offset,
    .length = needed->tabled.stored_length,
    .number = index,
  };
  dictionaries->bytes += request.length;
  return pks__delivery_requests_add(dictionaries->requests, &request, error);
}

pks_status pks__delivery_dictionaries_request(pks__delivery_dictionaries *dictionaries, pks_error *error) {
  pks_status status = PKS_OK;
  uint32_t frame_count = (uint32_t)PKS__SCRATCH_COUNT(&dictionaries->plan->frames, pks__planned_frame);
  for (uint32_t i = 0; !status && i < frame_count; i++) { status = list_frame(dictionaries, i, error); }
  if (status || dictionaries->context->without_frames) { return status; }
  status = hold_locals(dictionaries, error);
  for (uint32_t i = 0; !status && i < count_of(dictionaries); i++) {
    pks__needed_dictionary *needed = needed_at(dictionaries, i);
    if (!needed->is_held) { status = hold_fetched(dictionaries, needed, error); }
    if (!status && !needed->is_held) { status = request(dictionaries, i, error); }
  }
  return status;
}

pks_status pks__delivery_dictionaries_give(
  pks__delivery_dictionaries *dictionaries, const pks__byte_request *request, const void *bytes, bool *is_final,
  pks_error *error
) {
  pks__delivery_context *context = dictionaries->context;
  pks__needed_dictionary *needed = needed_at(dictionaries, request->number);
  const pks__delivery_site *site = dictionaries->plan->site;
  pks__id digest = pks__delivery_digest(context, bytes, request->length);
  if (!pks__id_equal(&digest, &needed->tabled.digest)) {
    const char *text = "the received bytes are not the segment's";
    return pks__delivery_site_corrupt(site, needed->segment, text, needed->tabled.offset, error);
  }
  *is_final = true;
  bool fits;
  pks__stored_dictionary stored = pks__delivery_dictionaries_stored(dictionaries, needed);
  stored.stored = bytes;
  pks_status status = hold(dictionaries, needed, &stored, &fits, error);
  if (status) { return status; }
  if (!fits) {
    const char *text = "a dictionary of the site has other content than its id";
    return pks__delivery_site_corrupt(site, needed->segment, text, needed->tabled.offset, error);
  }
  dictionaries->bytes_done += request->length;
  if (pks__transfer_staging_has_blob(&context->incoming, &digest)) { return PKS_OK; }
  return pks__transfer_staging_put_blob(&context->incoming, &digest, bytes, request->length, error);
}
