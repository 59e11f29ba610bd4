#include "segment/segment_check.h"

#include <errno.h>

#include "base/memory.h"
#include "segment/frame_check.h"

pks_status pks__segment_checker_open(pks__segment_checker *inspector, pks_error *error) {
  inspector->decoder = pks__decoder_create();
  if (!inspector->decoder) { return pks__fail_memory(error); }
  return pks__dictionaries_open(&inspector->dictionaries, inspector->sha256, error);
}

void pks__segment_checker_close(pks__segment_checker *inspector) {
  pks__decoder_destroy(inspector->decoder);
  pks__dictionaries_close(&inspector->dictionaries);
  pks__scratch_free(&inspector->stored);
  pks__scratch_free(&inspector->raw);
}

// MARK: - Faults

bool pks__error_is_damage(const pks_error *error) {
  switch (error->status) {
    case PKS_CORRUPT:
    case PKS_PURGED:
    case PKS_NEWER_FORMAT:
    case PKS_OTHER_DRAFT:
    case PKS_NOT_A_STORE: return true;
    // A file that cannot be read, or is not a regular file, may be corrected: nothing is lost yet.
    case PKS_IO_ERROR:
      return error->system_error == EIO || error->system_error == EBADMSG || error->system_error == ENOENT;
    default: return false;
  }
}

/// Reports a failure that is damage; any other is returned.
static pks_status settle(
  pks__segment_checker *inspector, pks_status status, const pks_error *found, const pks__frame *frame, pks_error *error
) {
  if (!status) { return PKS_OK; }
  if (!pks__error_is_damage(found)) {
    if (error) { *error = *found; }
    return status;
  }
  inspector->fault_count++;
  inspector->fault(inspector->context, found, frame);
  return PKS_OK;
}

static void tell(
  pks__segment_checker *inspector, const char *text, const char *file, uint64_t offset, const pks__frame *frame
) {
  pks_error found;
  pks_status status = pks__fail(&found, PKS_CORRUPT, text, file, offset);
  (void)settle(inspector, status, &found, frame, NULL);
}

// MARK: - Tables

pks_status pks__check_table(pks__segment_checker *inspector, pks__table *table, pks_error *error) {
  for (uint64_t at = 0; at < table->body_length; at += PKS__PAGE) {
    pks_error found;
    pks_status status = settle(inspector, pks__table_check(table, at, PKS__PAGE, &found), &found, NULL, error);
    if (status) { return status; }
  }
  return PKS_OK;
}

pks_status pks__check_segment_table(
  pks__segment_checker *inspector, pks__segment *segment, bool *sound, pks_error *error
) {
  pks_error found;
  uint64_t faults = inspector->fault_count;
  *sound = false;
  pks_status status = settle(inspector, pks__segment_need_table(segment, &found), &found, NULL, error);
  if (status || faults != inspector->fault_count) { return status; }
  const pks__table *table = &segment->table;
  inspector->bytes_checked += table->file_length - table->body_offset;
  status = pks__check_table(inspector, &segment->table, error);
  if (status || faults != inspector->fault_count) { return status; }
  if (inspector->sha256) {
    uint8_t digest[PKS__ID_SIZE];
    inspector->sha256(table->body, (size_t)table->body_length, digest);
    bool same = memcmp(digest, segment->id.bytes, sizeof segment->id.bytes) == 0;
    if (!same) { tell(inspector, "content differs from the file name", segment->name, table->body_offset, NULL); }
  }
  *sound = faults == inspector->fault_count;
  return PKS_OK;
}

// MARK: - Bytes that nothing refers to

static uint64_t first_nonzero(const uint8_t *bytes, uint64_t length) {
  uint64_t at = 0;
  while (at < length && bytes[at] == 0) { at++; }
  return at;
}

/// Checks that bytes which nothing refers to are zero, as they were written.
static pks_status check_zeros(
  pks__segment_checker *inspector, const pks__segment *segment, uint64_t begin, uint64_t end, pks_error *error
) {
  // Purgeable data is checked only through its frames.
  if (segment->is_purgeable) { return PKS_OK; }
  uint8_t bytes[PKS__PAGE];
  for (uint64_t at = begin; at < end; at += sizeof bytes) {
    size_t wanted = (size_t)pks__min64(sizeof bytes, end - at), got = 0;
    int failure = pks__vfs_read_at(segment->vfs, segment->file, at, bytes, wanted, &got);
    if (failure) {
      pks_error found;
      pks_status status = pks__fail_system(&found, failure, "cannot read", segment->name);
      return settle(inspector, status, &found, NULL, error);
    }
    uint64_t bad = first_nonzero(bytes, got);
    if (bad == wanted) { continue; }
    tell(inspector, bad < got ? "padding is not zero" : "is truncated", segment->name, at + bad, NULL);
    return PKS_OK;
  }
  return PKS_OK;
}

/// The first bytes of the file, which are there for people.
static pks_status check_header(pks__segment_checker *inspector, const pks__segment *segment, pks_error *error) {
  if (segment->is_purgeable) { return PKS_OK; }
  const pks_vfs *vfs = segment->vfs;
  pks__segment_header header = {.version = pks__put32(PKS__FORMAT), .kind = pks__put32(segment->kind)}, stored;
  memcpy(header.magic, PKS__SEGMENT_MAGIC, sizeof header.magic);
  size_t got = 0;
  inspector->bytes_checked += sizeof stored;
  int failure = pks__vfs_read_at(vfs, segment->file, 0, &stored, sizeof stored, &got);
  if (failure) {
    pks_error found;
    pks_status status = pks__fail_system(&found, failure, "cannot read", segment->name);
    return settle(inspector, status, &found, NULL, error);
  }
  if (got != sizeof stored || memcmp(&stored, &header, sizeof stored) != 0) {
    tell(inspector, "bad segment header", segment->name, 0, NULL);
  }
  return PKS_OK;
}

// MARK: - Frames

/// Whether the rows of a frame's chunks can be read, and follow each other.
static bool rows_fit(pks__segment *segment, const pks__frame *frame) {
  uint32_t begin = 0;
  for (uint32_t row = frame->first_chunk; row < frame->first_chunk + frame->chunk_count; row++) {
    const pks__id *id;
    uint64_t at = (uint64_t)((const uint8_t *)&segment->ends[row] - segment->table.body);
    if (pks__table_check(&segment->table, at, sizeof segment->ends[row], NULL)) { return false; }
    if (pks__segment_chunk_id(segment, row, &id, NULL)) { return false; }
    uint32_t end = pks__get32(segment->ends[row]);
    if (end <= begin || end > frame->ref.raw_length) { return false; }
    begin = end;
  }
  return true;
}

/// Compares each chunk of a decoded frame with its name. The rows were checked.
static bool chunks_match(
  pks__segment_checker *inspector, const pks__segment *segment, const pks__frame *frame, const uint8_t *raw
) {
  pks__hash_check check;
  pks__hash_check_begin(&check, inspector->sha256, inspector->sha256_many);
  uint32_t begin = 0;
  for (uint32_t row = frame->first_chunk; row < frame->first_chunk + frame->chunk_count; row++) {
    uint32_t end = pks__get32(segment->ends[row]);
    pks__hash_check_add(&check, raw + begin, end - begin, segment->ids[row].bytes);
    inspector->chunks_checked++;
    begin = end;
  }
  return pks__hash_check_end(&check);
}

/// Decodes a frame whose stored bytes were checked, unless it is raw. NULL: reported.
static pks_status decode_frame(
  pks__segment_checker *inspector, pks__segment *segment, const pks__frame *frame, const uint8_t **raw, pks_error *error
) {
  const uint8_t *stored = inspector->stored.bytes;
  *raw = stored;
  if (frame->ref.codec == PKS__CODEC_RAW) { return PKS_OK; }
  *raw = NULL;
  pks_status status = pks__scratch_reserve(&inspector->raw, frame->ref.raw_length, error);
  if (status) { return status; }
  uint8_t *out = inspector->raw.bytes;
  bool decodes;
  pks_error found;
  status = pks__dictionaries_decode_frame(
    &inspector->dictionaries, inspector->decoder, segment, &frame->ref, stored, out, &decodes, &found
  );
  if (status) { return settle(inspector, status, &found, frame, error); }
  if (decodes) { *raw = out; }
  if (!decodes) { tell(inspector, "a frame does not decode", segment->name, frame->ref.offset, frame); }
  return PKS_OK;
}

/// Whether a frame needs a dictionary whose only copy is damaged.
static bool is_lost(const pks__segment_checker *inspector, const pks__frame *frame) {
  uint32_t codec = frame->ref.codec;
  if (!pks__codec_has_dictionary(codec) || inspector->dictionaries.find_other) { return false; }
  return (inspector->bad_dictionaries >> (codec - PKS__CODEC_DICTIONARY) & 1) != 0;
}

/// Reads and checks one frame whose rows fit.
static pks_status check_frame(
  pks__segment_checker *inspector, pks__segment *segment, uint32_t index, const pks__frame *frame, pks_error *error
) {
  uint64_t faults = inspector->fault_count;
  pks_error found;
  inspector->stored.length = 0;
  pks_status status = pks__scratch_reserve(&inspector->stored, frame->ref.stored_length, error);
  if (status) { return status; }
  status = pks__frame_read_stored(segment, &frame->ref, inspector->stored.bytes, &found);
  inspector->frames_checked++;
  const uint8_t *raw = NULL;
  status = settle(inspector, status, &found, frame, error);
  if (!status && faults == inspector->fault_count && is_lost(inspector, frame)) {
    tell(inspector, "the dictionary of a frame is damaged", segment->name, frame->ref.offset, frame);
  }
  if (!status && faults == inspector->fault_count && inspector->deep) {
    status = decode_frame(inspector, segment, frame, &raw, error);
    if (raw && !chunks_match(inspector, segment, frame, raw)) {
      tell(inspector, "a chunk has other content than its id", segment->name, frame->ref.offset, frame);
    }
  }
  if (status || faults != inspector->fault_count || !inspector->whole) { return status; }
  return inspector->whole(inspector->context, segment, index, frame, raw, error);
}

// MARK: - Dictionaries

/// Reads and checks a dictionary whose row fits.
static pks_status check_dictionary(
  pks__segment_checker *inspector, pks__segment *segment, const pks__segment_dictionary *dictionary, pks_error *error
) {
  const pks__frame_ref *ref = &dictionary->ref;
  pks_error found;
  inspector->stored.length = inspector->raw.length = 0;
  pks_status status = pks__scratch_reserve(&inspector->stored, ref->stored_length, error);
  if (!status) { status = pks__scratch_reserve(&inspector->raw, ref->raw_length, error); }
  if (status) { return status; }
  status = pks__frame_read_stored(segment, ref, inspector->stored.bytes, &found);
  if (status || !inspector->deep) { return settle(inspector, status, &found, NULL, error); }
  bool decodes;
  pks__id id;
  uint8_t *raw = inspector->raw.bytes;
  status = pks__dictionary_decode(
    ref->codec, inspector->stored.bytes, ref->stored_length, raw, ref->raw_length, &decodes, error
  );
  if (status) { return status; }
  if (decodes) { inspector->sha256(raw, ref->raw_length, id.bytes); }
  if (decodes && pks__id_equal(&id, &dictionary->id)) { return PKS_OK; }
  tell(inspector, "a dictionary has other content than its id", segment->name, ref->offset, NULL);
  return PKS_OK;
}

/// Checks all dictionaries, before the frames that need them.
static pks_status check_dictionaries(pks__segment_checker *inspector, pks__segment *segment, pks_error *error) {
  inspector->bad_dictionaries = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < segment->dictionary_count; i++) {
    uint64_t faults = inspector->fault_count;
    pks__segment_dictionary dictionary;
    pks_error found;
    status = pks__segment_dictionary_at(segment, i, &dictionary, &found);
    if (status) {
      status = settle(inspector, status, &found, NULL, error);
    } else {
      status = check_dictionary(inspector, segment, &dictionary, error);
    }
    if (faults != inspector->fault_count) { inspector->bad_dictionaries |= (uint64_t)1 << i; }
  }
  return status;
}

// MARK: - The walk

/// How far a walk over frames, and the dictionaries between them, is.
typedef struct frame_walk {
  uint64_t next;        ///< end of the frame or dictionary before
  uint32_t next_chunk;  ///< chunk after those of the previous frame
  uint32_t next_dictionary;
  bool is_broken;  ///< an earlier row could not be read: the gap is unknown
} frame_walk;

/// Passes the dictionaries that begin before `end`.
static pks_status pass_dictionaries(
  pks__segment_checker *inspector, pks__segment *segment, frame_walk *walk, uint64_t end, pks_error *error
) {
  for (; walk->next_dictionary < segment->dictionary_count; walk->next_dictionary++) {
    pks__segment_dictionary dictionary;
    // An invalid row was reported before.
    if (pks__segment_dictionary_at(segment, walk->next_dictionary, &dictionary, NULL)) {
      walk->is_broken = true;
      continue;
    }
    const pks__frame_ref *ref = &dictionary.ref;
    if (ref->offset >= end) { return PKS_OK; }
    if (ref->offset < walk->next && !walk->is_broken) {
      tell(inspector, "the segment table contradicts itself", segment->name, ref->offset, NULL);
      walk->is_broken = true;
    }
    pks_status status = walk->is_broken ? PKS_OK : check_zeros(inspector, segment, walk->next, ref->offset, error);
    if (status) { return status; }
    inspector->bytes_checked += ref->offset + ref->stored_length - (walk->is_broken ? ref->offset : walk->next);
    walk->next = ref->offset + ref->stored_length;
  }
  return PKS_OK;
}

/// Processes frame `index`. `*ends`: the rest of the table is meaningless.
static pks_status pass_frame(
  pks__segment_checker *inspector, pks__segment *segment, uint32_t index, frame_walk *walk, bool *ends, pks_error *error
) {
  pks_error found;
  pks__frame frame;
  pks_status status = pks__segment_frame(segment, index, &frame, &found);
  if (!status) { status = pass_dictionaries(inspector, segment, walk, frame.ref.offset, &found); }
  bool follows = !status && frame.ref.offset >= walk->next && frame.first_chunk == walk->next_chunk;
  if (!status && ((!follows && !walk->is_broken) || !rows_fit(segment, &frame))) {
    status = pks__fail(&found, PKS_CORRUPT, "the segment table contradicts itself", segment->name, frame.ref.offset);
  }
  if (status) {
    walk->is_broken = true;
    *ends = !inspector->goes_on;
    return settle(inspector, status, &found, NULL, error);
  }
  if (!walk->is_broken) { status = check_zeros(inspector, segment, walk->next, frame.ref.offset, error); }
  if (!status) { status = check_frame(inspector, segment, index, &frame, error); }
  uint64_t end = frame.ref.offset + frame.ref.stored_length;
  inspector->bytes_checked += end - (walk->is_broken ? frame.ref.offset : walk->next);
  walk->next = end;
  walk->next_chunk = frame.first_chunk + frame.chunk_count;
  walk->is_broken = false;
  return status || !inspector->advance ? status : inspector->advance(inspector->context, end, error);
}

pks_status pks__check_frames(pks__segment_checker *inspector, pks__segment *segment, pks_error *error) {
  frame_walk walk = {.next = sizeof(pks__segment_header)};
  bool ends = false;
  pks_status status = check_header(inspector, segment, error);
  if (!status) { status = check_dictionaries(inspector, segment, error); }
  for (uint32_t i = 0; !status && !ends && i < segment->frame_count; i++) {
    status = pass_frame(inspector, segment, i, &walk, &ends, error);
  }
  uint64_t body = segment->table.body_offset;
  if (!status && !ends) { status = pass_dictionaries(inspector, segment, &walk, UINT64_MAX, error); }
  if (status || ends || walk.is_broken) { return status; }
  if (walk.next != segment->frames_end || walk.next_chunk != segment->chunk_count) {
    tell(inspector, "the segment table contradicts itself", segment->name, body, NULL);
  }
  inspector->bytes_checked += body - pks__min64(walk.next, body);
  return check_zeros(inspector, segment, walk.next, body, error);
}

// MARK: - Whole files

/// The checker counts faults.
static void ignore_fault(void *context, const pks_error *fault, const pks__frame *frame) {
  (void)context;
  (void)fault;
  (void)frame;
}

pks_status pks__segment_is_valid(
  pks__segment *segment, pks_sha256 *sha256, pks_sha256_many *sha256_many, bool *is_valid, pks_error *error
) {
  pks__segment_checker checker = {.sha256 = sha256, .sha256_many = sha256_many, .deep = true, .fault = ignore_fault};
  bool has_table = false;
  pks_status status = pks__segment_checker_open(&checker, error);
  if (!status) { status = pks__check_segment_table(&checker, segment, &has_table, error); }
  if (!status && has_table) { status = pks__check_frames(&checker, segment, error); }
  *is_valid = !status && has_table && checker.fault_count == 0;
  pks__segment_checker_close(&checker);
  return status;
}
