#include "segment/dictionaries.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "segment/frame_check.h"

struct pks__loaded_dictionary {
  pks__id key;  ///< its id, or an id of segment and number
  pks__decoding_dictionary *tables;
  size_t size;
  uint32_t users;
  uint64_t used;  ///< when, by the pool's count of uses
  bool is_remembered;
};

/// Bytes of all remembered dictionaries of the process.
static _Atomic(size_t) remembered_bytes;

// MARK: - Life

pks_status pks__dictionaries_open(pks__dictionaries *out, pks_sha256 *sha256, pks_error *error) {
  *out = (pks__dictionaries){.mutex = pks__mutex_create(), .sha256 = sha256};
  return out->mutex ? PKS_OK : pks__fail_memory(error);
}

static void destroy(pks__loaded_dictionary *dictionary) {
  if (!dictionary) { return; }
  pks__decoding_dictionary_destroy(dictionary->tables);
  pks__free(dictionary);
}

/// Frees a place. The mutex must be held.
static void forget(pks__loaded_dictionary **place) {
  atomic_fetch_sub(&remembered_bytes, (*place)->size);
  destroy(*place);
  *place = NULL;
}

void pks__dictionaries_close(pks__dictionaries *dictionaries) {
  for (size_t i = 0; i < PKS_COUNT_OF(dictionaries->remembered); i++) {
    if (dictionaries->remembered[i]) { forget(&dictionaries->remembered[i]); }
  }
  pks__mutex_destroy(dictionaries->mutex);
  *dictionaries = (pks__dictionaries){0};
}

// MARK: - Remembering

/// The one with that key, with one more user, or NULL. The mutex is held.
static pks__loaded_dictionary *find(pks__dictionaries *dictionaries, const pks__id *key) {
  for (size_t i = 0; i < PKS_COUNT_OF(dictionaries->remembered); i++) {
    pks__loaded_dictionary *dictionary = dictionaries->remembered[i];
    if (!dictionary || !pks__id_equal(&dictionary->key, key)) { continue; }
    dictionary->users++;
    dictionary->used = ++dictionaries->uses;
    return dictionary;
  }
  return NULL;
}

/// Returns the place of the unused dictionary that was used longest ago; NULL if none. The mutex must be held.
static pks__loaded_dictionary **find_idle(pks__dictionaries *dictionaries) {
  pks__loaded_dictionary **oldest = NULL;
  for (size_t i = 0; i < PKS_COUNT_OF(dictionaries->remembered); i++) {
    pks__loaded_dictionary **place = &dictionaries->remembered[i];
    if (*place && (*place)->users == 0 && (!oldest || (*place)->used < (*oldest)->used)) { oldest = place; }
  }
  return oldest;
}

static pks__loaded_dictionary **find_free(pks__dictionaries *dictionaries) {
  for (size_t i = 0; i < PKS_COUNT_OF(dictionaries->remembered); i++) {
    if (!dictionaries->remembered[i]) { return &dictionaries->remembered[i]; }
  }
  return NULL;
}

/// Remembers a dictionary if there is room, or room can be made. The mutex is held.
static void remember(pks__dictionaries *dictionaries, pks__loaded_dictionary *dictionary) {
  for (;;) {
    pks__loaded_dictionary **place = find_free(dictionaries);
    bool fits = atomic_load(&remembered_bytes) + dictionary->size <= PKS__DICTIONARIES_BYTES;
    if (place && fits) {
      *place = dictionary;
      dictionary->is_remembered = true;
      atomic_fetch_add(&remembered_bytes, dictionary->size);
      return;
    }
    pks__loaded_dictionary **idle = find_idle(dictionaries);
    if (!idle) { return; }
    forget(idle);
  }
}

/// Takes a dictionary that is known by `key`.
static pks__loaded_dictionary *take_known(pks__dictionaries *dictionaries, const pks__id *key) {
  pks__mutex_lock(dictionaries->mutex);
  pks__loaded_dictionary *found = find(dictionaries, key);
  pks__mutex_unlock(dictionaries->mutex);
  return found;
}

/// Makes the tables of a dictionary, and takes it, unless another thread was faster.
static pks_status take_new(
  pks__dictionaries *dictionaries, const pks__id *key, const uint8_t *bytes, uint32_t length, const char *name,
  uint64_t offset, pks__loaded_dictionary **out, pks_error *error
) {
  bool is_bad;
  pks__loaded_dictionary *made = pks__allocate_zeroed(1, sizeof *made);
  if (!made) { return pks__fail_memory(error); }
  made->tables = pks__decoding_dictionary_create(bytes, length, &is_bad);
  if (!made->tables) {
    pks__free(made);
    return is_bad ? pks__fail(error, PKS_CORRUPT, "a dictionary breaks its format", name, offset)
                  : pks__fail_memory(error);
  }
  made->key = *key;
  made->size = pks__decoding_dictionary_size(made->tables);
  pks__mutex_lock(dictionaries->mutex);
  *out = find(dictionaries, key);
  if (!*out) {
    made->users = 1;
    made->used = ++dictionaries->uses;
    remember(dictionaries, made);
    *out = made;
  }
  pks__mutex_unlock(dictionaries->mutex);
  if (*out != made) { destroy(made); }
  return PKS_OK;
}

static void release(pks__dictionaries *dictionaries, pks__loaded_dictionary *dictionary) {
  pks__mutex_lock(dictionaries->mutex);
  bool is_last = --dictionary->users == 0 && !dictionary->is_remembered;
  pks__mutex_unlock(dictionaries->mutex);
  if (is_last) { destroy(dictionary); }
}

// MARK: - Copying

pks_status pks__stored_dictionary_read(
  pks__segment *segment, uint32_t codec, pks__scratch *bytes, pks__stored_dictionary *out, pks_error *error
) {
  PKS_ASSERT(pks__codec_has_dictionary(codec));
  pks__segment_dictionary found;
  pks_status status = pks__segment_need_table(segment, error);
  if (!status) { status = pks__segment_dictionary_at(segment, codec - PKS__CODEC_DICTIONARY, &found, error); }
  bytes->length = 0;
  if (!status) { status = pks__scratch_append(bytes, NULL, found.ref.stored_length, error); }
  if (!status) { status = pks__frame_read_stored(segment, &found.ref, bytes->bytes, error); }
  if (status) { return status; }
  *out = (pks__stored_dictionary){
    .id = found.id,
    .codec = found.ref.codec,
    .stored_length = found.ref.stored_length,
    .raw_length = found.ref.raw_length,
    .stored = bytes->bytes,
  };
  return PKS_OK;
}

// MARK: - Loading

pks_status pks__dictionary_decode(
  uint32_t codec, const void *stored, uint32_t stored_length, uint8_t *out, uint32_t raw_length, bool *decodes,
  pks_error *error
) {
  if (codec == PKS__CODEC_RAW) {
    *decodes = stored_length == raw_length;
    if (*decodes) { memcpy(out, stored, raw_length); }
    return PKS_OK;
  }
  pks__decoder *decoder = pks__decoder_create();
  if (!decoder) { return pks__fail_memory(error); }
  *decodes = pks__decode(decoder, stored, stored_length, out, raw_length);
  pks__decoder_destroy(decoder);
  return PKS_OK;
}

pks_status pks__stored_dictionary_check(
  const pks__stored_dictionary *stored, pks_sha256 *sha256, bool *is_it, pks_error *error
) {
  uint8_t *raw = pks__allocate(stored->raw_length);
  if (!raw) { return pks__fail_memory(error); }
  pks_status status =
    pks__dictionary_decode(stored->codec, stored->stored, stored->stored_length, raw, stored->raw_length, is_it, error);
  pks__id digest;
  if (!status && *is_it) {
    sha256(raw, stored->raw_length, digest.bytes);
    *is_it = pks__id_equal(&digest, &stored->id);
  }
  pks__free(raw);
  return status;
}

/// Whether bytes match a dictionary's id; unknown without SHA-256.
static bool has_id(const pks__dictionaries *dictionaries, const uint8_t *bytes, uint32_t length, const pks__id *id) {
  pks__id digest;
  if (!dictionaries->sha256) { return true; }
  dictionaries->sha256(bytes, length, digest.bytes);
  return pks__id_equal(&digest, id);
}

/// Reads the segment's copy to `raw`, by way of `stored`.
static pks_status read_copy(
  const pks__dictionaries *dictionaries, pks__segment *segment, const pks__segment_dictionary *wanted, uint8_t *stored,
  uint8_t *raw, pks_error *error
) {
  const pks__frame_ref *ref = &wanted->ref;
  pks_status status = pks__frame_read_stored(segment, ref, stored, error);
  if (status) { return status; }
  bool decodes;
  status = pks__dictionary_decode(ref->codec, stored, ref->stored_length, raw, ref->raw_length, &decodes, error);
  if (status || (decodes && has_id(dictionaries, raw, ref->raw_length, &wanted->id))) { return status; }
  return pks__fail(error, PKS_CORRUPT, "a dictionary has other content than its id", segment->name, ref->offset);
}

/// Reads the segment's copy, or else another one.
static pks_status read_any_copy(
  const pks__dictionaries *dictionaries, pks__segment *segment, const pks__segment_dictionary *wanted, uint8_t *stored,
  uint8_t *raw, pks_error *error
) {
  pks_error own = {0};
  bool found = false;
  pks_status status = read_copy(dictionaries, segment, wanted, stored, raw, &own);
  if (status && dictionaries->find_other) {
    pks_status other = dictionaries->find_other(dictionaries->find_context, wanted, raw, &found, error);
    if (other) { return other; }
  }
  if (!status || (found && has_id(dictionaries, raw, wanted->ref.raw_length, &wanted->id))) { return PKS_OK; }
  if (error) { *error = own; }
  return status;
}

/// Names the dictionary of a segment, where nothing proves that it is the one of its id.
static pks__id key_in_segment(const pks__segment *segment, uint32_t number) {
  pks__id key = {0};
  memcpy(key.bytes, segment->id.bytes, sizeof segment->id.bytes);
  pks_le32 stored = pks__put32(number);
  memcpy(key.bytes + sizeof segment->id.bytes, &stored, sizeof stored);
  return key;
}

/// The dictionary that frames of `codec` in a segment need, in use until it is released.
static pks_status take(
  pks__dictionaries *dictionaries, pks__segment *segment, uint32_t codec, pks__loaded_dictionary **out, pks_error *error
) {
  PKS_ASSERT(pks__codec_has_dictionary(codec));
  uint32_t number = codec - PKS__CODEC_DICTIONARY;
  pks__segment_dictionary wanted;
  pks_status status = pks__segment_need_table(segment, error);
  if (!status) { status = pks__segment_dictionary_at(segment, number, &wanted, error); }
  if (status) { return status; }
  pks__id key = dictionaries->sha256 ? wanted.id : key_in_segment(segment, number);
  *out = take_known(dictionaries, &key);
  if (*out) { return PKS_OK; }
  uint8_t *bytes = pks__allocate((size_t)wanted.ref.stored_length + wanted.ref.raw_length);
  if (!bytes) { return pks__fail_memory(error); }
  uint8_t *raw = bytes + wanted.ref.stored_length;
  status = read_any_copy(dictionaries, segment, &wanted, bytes, raw, error);
  if (!status) {
    status = take_new(dictionaries, &key, raw, wanted.ref.raw_length, segment->name, wanted.ref.offset, out, error);
  }
  pks__free(bytes);
  return status;
}

/// The same of stored bytes in memory.
static pks_status take_stored(
  pks__dictionaries *dictionaries, const pks__stored_dictionary *stored, const char *name, pks__loaded_dictionary **out,
  pks_error *error
) {
  PKS_ASSERT(dictionaries->sha256 && stored->stored);
  *out = take_known(dictionaries, &stored->id);
  if (*out) { return PKS_OK; }
  uint8_t *raw = pks__allocate(stored->raw_length);
  if (!raw) { return pks__fail_memory(error); }
  bool decodes;
  pks_status status = pks__dictionary_decode(
    stored->codec, stored->stored, stored->stored_length, raw, stored->raw_length, &decodes, error
  );
  if (!status && !(decodes && has_id(dictionaries, raw, stored->raw_length, &stored->id))) {
    status = pks__fail(error, PKS_CORRUPT, "a dictionary has other content than its id", name, PKS_NO_OFFSET);
  }
  if (!status) {
    status = take_new(dictionaries, &stored->id, raw, stored->raw_length, name, PKS_NO_OFFSET, out, error);
  }
  pks__free(raw);
  return status;
}

// MARK: - Decoding frames

pks_status pks__dictionaries_decode_frame(
  pks__dictionaries *dictionaries, pks__decoder *decoder, pks__segment *segment, const pks__frame_ref *frame,
  const uint8_t *stored, uint8_t *raw, bool *decodes, pks_error *error
) {
  if (!pks__codec_has_dictionary(frame->codec)) {
    *decodes = pks__decode(decoder, stored, frame->stored_length, raw, frame->raw_length);
    return PKS_OK;
  }
  pks__loaded_dictionary *loaded;
  pks_status status = take(dictionaries, segment, frame->codec, &loaded, error);
  if (status) { return status; }
  *decodes = pks__decode_with(decoder, loaded->tables, stored, frame->stored_length, raw, frame->raw_length);
  release(dictionaries, loaded);
  return PKS_OK;
}

pks_status pks__dictionaries_decode_with(
  pks__dictionaries *dictionaries, pks__decoder *decoder, const pks__stored_dictionary *dictionary, const char *name,
  const uint8_t *stored, uint32_t stored_length, uint8_t *raw, uint32_t raw_length, bool *decodes, pks_error *error
) {
  pks__loaded_dictionary *loaded;
  pks_status status = take_stored(dictionaries, dictionary, name, &loaded, error);
  if (status) { return status; }
  *decodes = pks__decode_with(decoder, loaded->tables, stored, stored_length, raw, raw_length);
  release(dictionaries, loaded);
  return PKS_OK;
}
