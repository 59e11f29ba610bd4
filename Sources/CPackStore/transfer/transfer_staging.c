#include "transfer/transfer_staging.h"

#include <errno.h>
#include <stdio.h>

#include "base/memory.h"
#include "codec/checksum.h"
#include "ingest/incoming_folders.h"
#include "segment/frame_check.h"
#include "segment/segment_check.h"
#include "store/store_files.h"

#define PAGES "pages"

enum { NAME_SIZE = 32 };

/// Kinds of records in the journal.
enum { RECORD_FRAME = 2, RECORD_COMPLETE = 3, RECORD_DICTIONARY = 4 };

typedef struct blob {
  pks__id id;
  uint64_t offset;  ///< offset of the bytes in `pages`
  uint64_t length;
} blob;

/// A frame in the journal: this, its ids, its ends.
typedef struct frame_record {
  uint8_t kind;
  uint8_t zeros[3];
  pks_le32 segment;
  pks__frame_row row;
  pks_le32 chunk_count;
} frame_record;
_Static_assert(sizeof(frame_record) == 36, "no padding");

typedef struct complete_record {
  uint8_t kind;
  uint8_t is_shared;  ///< 1: a file of another store, whose chunks are checked before use
  uint8_t zeros[2];
  pks_le32 segment;
  pks__segment_id id;
} complete_record;
_Static_assert(sizeof(complete_record) == 24, "no padding");

typedef struct dictionary_record {
  uint8_t kind;
  uint8_t zeros[3];
  pks_le32 segment;
  pks__dictionary_row row;
} dictionary_record;
_Static_assert(sizeof(dictionary_record) == 64, "no padding");

static void path_of(const pks__transfer_staging *incoming, const char *name, char out[PKS__INCOMING_PATH]) {
  (void)snprintf(out, PKS__INCOMING_PATH, "%s/%s", incoming->path, name);
}

static void growing_name(uint32_t number, char out[NAME_SIZE]) { (void)snprintf(out, NAME_SIZE, "segment-%u", number); }

// MARK: - The folder

static pks_status fail_path(int failure, const char *text, const char *path, pks_error *error) {
  return failure ? pks__fail_system(error, failure, text, path) : PKS_OK;
}

static pks_status make_folder(pks_store *store, const char *path, pks_error *error) {
  int failure = pks__vfs_make_folder(store->vfs, store->root, path);
  return fail_path(failure == EEXIST ? 0 : failure, "cannot create", path, error);
}

/// Creates the folder if missing, and takes its lock.
static pks_status take_folder(pks__transfer_staging *incoming, pks_error *error) {
  pks_store *store = incoming->store;
  const pks_vfs *vfs = store->vfs;
  char path[PKS__INCOMING_PATH];
  path_of(incoming, PKS__INCOMING_JOURNAL, path);
  for (;;) {
    bool taken = false;
    pks_status status = make_folder(store, PKS__INCOMING_FOLDER, error);
    if (!status) { status = make_folder(store, incoming->path, error); }
    if (status) { return status; }
    int failure = pks__vfs_open(vfs, store->root, path, PKS_VFS_OPEN_LOCK, &incoming->journal_file);
    if (failure == ENOENT) { continue; }  // Its last owner removed it just now.
    if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
    failure = pks__incoming_lock(store, incoming->journal_file, &taken);
    if (!failure && taken && pks__incoming_is_named(store, incoming->journal_file, path)) { return PKS_OK; }
    pks__vfs_close(vfs, incoming->journal_file);
    incoming->journal_file = PKS_VFS_NO_FILE;
    if (failure) { return pks__fail_system(error, failure, "cannot lock", path); }
    if (!taken) {
      return pks__fail_about(
        error, PKS_BUSY, PKS_DETAIL_OTHER_FETCH, PKS_SUBJECT_STORE_FILE, path,
        "another process is fetching the same version"
      );
    }
  }
}

// MARK: - Blobs

static const pks__id *blob_id(const void *context, uint32_t index) {
  const pks__transfer_staging *incoming = context;
  return &PKS__SCRATCH_AT(&incoming->blobs, const blob, index)->id;
}

static const blob *find_blob(const pks__transfer_staging *incoming, const pks__id *id) {
  uint32_t index;
  bool found = pks__hash_map_find_id(&incoming->blobs_by_id, id, blob_id, incoming, &index);
  return found ? PKS__SCRATCH_AT(&incoming->blobs, const blob, index) : NULL;
}

static pks_status note_blob(
  pks__transfer_staging *incoming, const pks__id *id, uint64_t offset, uint64_t length, pks_error *error
) {
  blob row = {.id = *id, .offset = offset, .length = length};
  if (find_blob(incoming, id)) { return PKS_OK; }
  uint64_t count = PKS__SCRATCH_COUNT(&incoming->blobs, blob);
  if (count == UINT32_MAX) { return pks__fail(error, PKS_CORRUPT, "too many pages", incoming->path, PKS_NO_OFFSET); }
  pks_status status = pks__scratch_append(&incoming->blobs, &row, sizeof row, error);
  return status ? status : pks__hash_map_insert_id(&incoming->blobs_by_id, id, (uint32_t)count, error);
}

bool pks__transfer_staging_has_blob(const pks__transfer_staging *incoming, const pks__id *id) {
  return find_blob(incoming, id);
}

uint64_t pks__transfer_staging_blob_length(const pks__transfer_staging *incoming, const pks__id *id) {
  const blob *found = find_blob(incoming, id);
  return found ? found->length : 0;
}

pks_status pks__transfer_staging_put_blob(
  pks__transfer_staging *incoming, const pks__id *id, const void *bytes, size_t byte_count, pks_error *error
) {
  uint64_t offset;
  pks__record_part parts[] = {{id, sizeof *id}, {bytes, byte_count}};
  pks_status status = pks__record_log_append(&incoming->pages, parts, PKS_COUNT_OF(parts), &offset, error);
  incoming->is_used = true;
  return status ? status : note_blob(incoming, id, offset + sizeof *id, byte_count, error);
}

pks_status pks__transfer_staging_get_blob(
  pks__transfer_staging *incoming, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
) {
  const blob *row = find_blob(incoming, id);
  *found = row != NULL;
  out->length = 0;
  if (!row) { return PKS_OK; }
  pks_status status = pks__scratch_reserve(out, row->length, error);
  if (!status) { status = pks__record_log_read(&incoming->pages, row->offset, out->bytes, (size_t)row->length, error); }
  if (!status) { out->length = row->length; }
  return status;
}

/// Loads the existing blobs whose contents match their names.
static pks_status read_blobs(pks__transfer_staging *incoming, pks_error *error) {
  for (;;) {
    pks__record_log_mark mark = pks__record_log_here(&incoming->pages);
    const uint8_t *payload;
    size_t length;
    uint64_t offset;
    bool more;
    pks__id id, digest;
    pks_status status = pks__record_log_next(&incoming->pages, &payload, &length, &offset, &more, error);
    if (status || !more) { return status; }
    bool is_blob = length >= sizeof id;
    if (is_blob) {
      memcpy(&id, payload, sizeof id);
      incoming->store->sha256(payload + sizeof id, length - sizeof id, digest.bytes);
      is_blob = pks__id_equal(&id, &digest);
    }
    if (!is_blob) {
      pks__record_log_cut(&incoming->pages, mark);
      return PKS_OK;
    }
    incoming->is_used = true;
    status = note_blob(incoming, &id, offset + sizeof id, length - sizeof id, error);
    if (status) { return status; }
  }
}

// MARK: - Growing

static pks_status open_growing(void *context, uint32_t number, pks_vfs_file *out, pks_error *error) {
  pks__transfer_staging *incoming = context;
  const pks_vfs *vfs = incoming->store->vfs;
  char name[NAME_SIZE], path[PKS__INCOMING_PATH];
  growing_name(number, name);
  path_of(incoming, name, path);
  incoming->is_used = true;
  return fail_path(
    pks__vfs_open(vfs, incoming->store->root, path, PKS_VFS_OPEN_OR_CREATE, out), "cannot create", path, error
  );
}

static pks_status note_sealed(void *context, uint32_t number, const pks__segment_id *id, pks_error *error) {
  pks__transfer_staging *incoming = context;
  complete_record record = {.kind = RECORD_COMPLETE, .segment = pks__put32(number), .id = *id};
  pks__record_part part = {&record, sizeof record};
  return pks__record_log_append(&incoming->journal, &part, 1, NULL, error);
}

static pks_status note_dictionary(void *context, uint32_t number, const pks__dictionary_row *row, pks_error *error) {
  pks__transfer_staging *incoming = context;
  dictionary_record record = {.kind = RECORD_DICTIONARY, .segment = pks__put32(number), .row = *row};
  pks__record_part part = {&record, sizeof record};
  return pks__record_log_append(&incoming->journal, &part, 1, NULL, error);
}

static pks_status note_frame(
  void *context, uint32_t segment, const pks__frame_row *row, const pks__id *ids, const uint32_t *ends,
  uint32_t chunk_count, pks_error *error
) {
  pks__transfer_staging *incoming = context;
  frame_record record = {
    .kind = RECORD_FRAME,
    .segment = pks__put32(segment),
    .row = *row,
    .chunk_count = pks__put32(chunk_count),
  };
  pks_le32 stored_ends[PKS__FRAME_CHUNKS_MAX];
  PKS_ASSERT(chunk_count <= PKS__FRAME_CHUNKS_MAX);
  for (uint32_t i = 0; i < chunk_count; i++) { stored_ends[i] = pks__put32(ends[i]); }
  pks__record_part parts[] = {
    {&record, sizeof record}, {ids, chunk_count * sizeof *ids}, {stored_ends, chunk_count * sizeof *stored_ends}};
  return pks__record_log_append(&incoming->journal, parts, PKS_COUNT_OF(parts), NULL, error);
}

// MARK: - Life

/// Writes the owner file or verifies it; empties a folder owned by another transfer.
static pks_status settle_owner(
  pks__transfer_staging *incoming, const char *pack, const pks__id *catalog, pks_error *error
) {
  uint8_t expected[1 + PKS__ID_SIZE + PKS__PACK_NAME_MAX] = {PKS__INCOMING_OWNER};
  size_t length = 1 + sizeof *catalog + strlen(pack), found_length;
  memcpy(expected + 1, catalog, sizeof *catalog);
  memcpy(expected + 1 + sizeof *catalog, pack, strlen(pack));
  const uint8_t *payload;
  uint64_t offset;
  bool more;
  pks_status status = pks__record_log_next(&incoming->journal, &payload, &found_length, &offset, &more, error);
  if (status) { return status; }
  if (more && found_length == length && memcmp(payload, expected, length) == 0) { return PKS_OK; }
  pks__record_log_cut(&incoming->journal, (pks__record_log_mark){0});
  incoming->pages.present = 0;
  pks__record_part part = {expected, length};
  return pks__record_log_append(&incoming->journal, &part, 1, NULL, error);
}

static pks_status open_files(pks__transfer_staging *incoming, pks_error *error) {
  const pks_vfs *vfs = incoming->store->vfs;
  char path[PKS__INCOMING_PATH];
  path_of(incoming, PAGES, path);
  int failure = pks__vfs_open(vfs, incoming->store->root, path, PKS_VFS_OPEN_OR_CREATE, &incoming->pages_file);
  if (failure) { return pks__fail_system(error, failure, "cannot create", path); }
  pks_status status =
    pks__record_log_open(&incoming->journal, vfs, incoming->journal_file, "incoming journal", incoming->home, error);
  if (status) { return status; }
  return pks__record_log_open(&incoming->pages, vfs, incoming->pages_file, "incoming pages", incoming->home, error);
}

pks_status pks__transfer_staging_open(
  pks__transfer_staging *out, pks_store *store, pks__scratch_folder *home, const char *pack, const pks__id *catalog,
  pks_error *error
) {
  *out = (pks__transfer_staging
  ){.store = store, .home = home, .journal_file = PKS_VFS_NO_FILE, .pages_file = PKS_VFS_NO_FILE, .path = ""};
  pks__scratch_init(&out->blobs, home);
  pks__scratch_init(&out->shared, home);
  pks__hash_map_init(&out->blobs_by_id, home);
  uint8_t told[PKS__ID_SIZE + PKS__PACK_NAME_MAX];
  pks__id digest;
  char digits[17];
  memcpy(told, catalog, sizeof *catalog);
  memcpy(told + sizeof *catalog, pack, strlen(pack));
  store->sha256(told, sizeof *catalog + strlen(pack), digest.bytes);
  pks__hex64(pks__id_prefix(&digest), digits);
  (void)snprintf(out->path, sizeof out->path, PKS__INCOMING_FOLDER "/%s", digits);
  out->sink = (pks__frame_sink
  ){.context = out,
    .path = out->path,
    .open_segment = open_growing,
    .note_frame = note_frame,
    .note_dictionary = note_dictionary,
    .note_sealed = note_sealed};
  pks_status status = take_folder(out, error);
  if (!status) { status = open_files(out, error); }
  if (!status) { status = settle_owner(out, pack, catalog, error); }
  if (!status) { status = read_blobs(out, error); }
  if (status) { pks__transfer_staging_close(out, false); }
  return status;
}

void pks__transfer_staging_close(pks__transfer_staging *incoming, bool discard) {
  if (!incoming->store) { return; }
  const pks_vfs *vfs = incoming->store->vfs;
  bool is_ours = incoming->journal_file != PKS_VFS_NO_FILE;
  pks__record_log_close(&incoming->journal);
  pks__record_log_close(&incoming->pages);
  pks__scratch_free(&incoming->blobs);
  pks__scratch_free(&incoming->shared);
  pks__hash_map_free(&incoming->blobs_by_id);
  if (is_ours && (discard || !incoming->is_used || incoming->is_spoilt)) {
    pks__incoming_remove(incoming->store, incoming->path);
  }
  if (incoming->pages_file != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, incoming->pages_file); }
  if (is_ours) {
    // Unlocked explicitly, because a forked child may have this opening of the file too.
    (void)pks__vfs_lock(vfs, incoming->journal_file, 0, 1, PKS_VFS_LOCK_NONE);
    pks__vfs_close(vfs, incoming->journal_file);
  }
  *incoming = (pks__transfer_staging){0};
}

void pks__transfer_staging_leave(const pks__transfer_staging *incoming) {
  if (!incoming->store) { return; }
  const pks_vfs *vfs = incoming->store->vfs;
  pks__vfs_close(vfs, incoming->pages_file);
  pks__vfs_close(vfs, incoming->journal_file);
}

pks_status pks__transfer_staging_share(pks__transfer_staging *incoming, const pks__segment_id *id, pks_error *error) {
  return pks__scratch_append(&incoming->shared, id, sizeof *id, error);
}

void pks__transfer_staging_spoil(pks__transfer_staging *incoming) { incoming->is_spoilt = true; }

pks_status pks__transfer_staging_sync(pks__transfer_staging *incoming, pks_error *error) {
  return pks__store_sync_folder(incoming->store, incoming->path, error);
}

// MARK: - Taking up

typedef struct resumption {
  pks__transfer_staging *incoming;
  pks__ingest *ingest;
  pks__scratch complete;  ///< complete_record by number: complete segments in the journal
  uint32_t restored;      ///< number of these that are valid
  pks_vfs_file growing;   ///< file of the segment that was growing
  pks__scratch stored;
} resumption;

/// The next record of the journal, and where it begins.
static pks_status next_record(
  resumption *resumption, pks__record_log_mark *mark, const uint8_t **payload, size_t *length, bool *more,
  pks_error *error
) {
  uint64_t offset;
  *mark = pks__record_log_here(&resumption->incoming->journal);
  return pks__record_log_next(&resumption->incoming->journal, payload, length, &offset, more, error);
}

/// Collects the complete segments in the journal, then returns to its beginning.
static pks_status find_complete(resumption *resumption, pks_error *error) {
  pks__record_log_mark begin = pks__record_log_here(&resumption->incoming->journal), mark;
  const uint8_t *payload;
  size_t length;
  pks_status status = PKS_OK;
  for (bool more = true; !status && more;) {
    status = next_record(resumption, &mark, &payload, &length, &more, error);
    complete_record record;
    if (status || !more || length != sizeof record || payload[0] != RECORD_COMPLETE) { continue; }
    memcpy(&record, payload, sizeof record);
    if (pks__get32(record.segment) != PKS__SCRATCH_COUNT(&resumption->complete, complete_record)) { break; }
    status = pks__scratch_append(&resumption->complete, &record, sizeof record, error);
  }
  pks__record_log_cut(&resumption->incoming->journal, begin);
  return status;
}

static pks_status add_chunks(pks__ingest *ingest, const pks__id *ids, uint32_t count, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < count; i++) { status = pks__ingest_add_new(ingest, &ids[i], error); }
  return status;
}

static pks_status bad_segment(const pks__segment *segment, pks_error *error) {
  return pks__fail(error, PKS_CORRUPT, "has other content than its name", segment->name, PKS_NO_OFFSET);
}

/// Compares every chunk of a shared segment with its SHA-256: its bytes were not checked on their way into this store.
static pks_status check_shared(const pks__transfer_staging *incoming, pks__segment *segment, pks_error *error) {
  const pks_store *store = incoming->store;
  bool is_valid;
  pks_status status = pks__segment_is_valid(segment, store->sha256, store->sha256_many, &is_valid, error);
  return status || is_valid ? status : bad_segment(segment, error);
}

/// Whether the whole table of a segment has the right sums and makes its id.
static pks_status check_table(const pks__transfer_staging *incoming, pks__segment *segment, pks_error *error) {
  pks_status status = pks__segment_need_table(segment, error);
  if (!status) { status = pks__table_check_all(&segment->table, error); }
  if (status) { return status; }
  pks__id digest;
  incoming->store->sha256(segment->table.body, (size_t)segment->table.body_length, digest.bytes);
  bool is_it = memcmp(digest.bytes, segment->id.bytes, sizeof segment->id.bytes) == 0
    && segment->kind == PKS__SEGMENT_DATA && segment->chunk_count > 0;
  return is_it ? PKS_OK : bad_segment(segment, error);
}

static pks_status check_frame(
  resumption *resumption, pks__segment *segment, uint32_t index, pks__frame *frame, pks_error *error
) {
  pks_status status = pks__segment_frame(segment, index, frame, error);
  if (!status) { status = pks__scratch_reserve(&resumption->stored, frame->ref.stored_length, error); }
  if (status) { return status; }
  for (uint32_t i = 0; !status && i < frame->chunk_count; i++) {
    pks__chunk_place place;
    status = pks__segment_chunk(segment, frame->first_chunk + i, &place, error);
    if (!status && place.frame != index) { status = bad_segment(segment, error); }
  }
  if (status) { return status; }
  return pks__frame_read_stored(segment, &frame->ref, resumption->stored.bytes, error);
}

static pks_status check_dictionary(resumption *resumption, pks__segment *segment, uint32_t number, pks_error *error) {
  pks__segment_dictionary dictionary;
  pks_status status = pks__segment_dictionary_at(segment, number, &dictionary, error);
  if (!status) { status = pks__scratch_reserve(&resumption->stored, dictionary.ref.stored_length, error); }
  return status ? status : pks__frame_read_stored(segment, &dictionary.ref, resumption->stored.bytes, error);
}

/// Adopts the frames and dictionaries of a complete segment, after checking every byte.
static pks_status take_frames(resumption *resumption, pks__segment *segment, uint64_t *stored_bytes, pks_error *error) {
  pks__segment_series *series = &resumption->ingest->frames.series;
  pks_status status = PKS_OK;
  *stored_bytes = 0;
  for (uint32_t i = 0; !status && i < segment->dictionary_count; i++) {
    status = pks__segment_series_note_dictionary(series, i, &segment->dictionaries[i], error);
  }
  for (uint32_t i = 0; !status && i < segment->frame_count; i++) {
    pks__frame frame;
    status = pks__segment_frame(segment, i, &frame, error);
    if (status) { break; }
    *stored_bytes += frame.ref.stored_length;
    status = pks__frame_pipeline_note(
      &resumption->ingest->frames, &segment->frames[i], segment->ends + frame.first_chunk, frame.chunk_count, error
    );
    if (!status) {
      status = add_chunks(resumption->ingest, segment->ids + frame.first_chunk, frame.chunk_count, error);
    }
  }
  return status;
}

/// Gives a complete segment its name, if a crash came between.
static void finish_name(const pks__transfer_staging *incoming, uint32_t number, const char *path) {
  const pks_vfs *vfs = incoming->store->vfs;
  char name[NAME_SIZE], from[PKS__INCOMING_PATH];
  pks_vfs_info info;
  growing_name(number, name);
  path_of(incoming, name, from);
  if (pks__vfs_info(vfs, incoming->store->root, path, false, &info) == ENOENT) {
    (void)pks__vfs_rename(vfs, incoming->store->root, from, path);
  }
}

/// Takes up the next complete segment. `*taken` is false when it does not count.
static pks_status take_complete(resumption *resumption, bool *taken, pks_error *error) {
  pks__transfer_staging *incoming = resumption->incoming;
  const pks_vfs *vfs = incoming->store->vfs;
  uint32_t number = resumption->restored;
  const complete_record *record = PKS__SCRATCH_AT(&resumption->complete, const complete_record, number);
  const pks__segment_id *id = &record->id;
  char name[PKS__SEGMENT_NAME], path[PKS__INCOMING_PATH];
  pks__segment_name(id, name);
  path_of(incoming, name, path);
  if (!record->is_shared) { finish_name(incoming, number, path); }
  pks__segment *segment;
  pks_error found = {0};
  pks_status status = pks__segment_open(&segment, vfs, incoming->store->root, path, id, &found);
  bool is_open = !status;
  if (!status && record->is_shared) { status = check_shared(incoming, segment, &found); }
  if (!status) { status = check_table(incoming, segment, &found); }
  for (uint32_t i = 0; !status && i < segment->frame_count; i++) {
    pks__frame frame;
    status = check_frame(resumption, segment, i, &frame, &found);
  }
  for (uint32_t i = 0; !status && i < segment->dictionary_count; i++) {
    status = check_dictionary(resumption, segment, i, &found);
  }
  *taken = !status;
  uint64_t stored_bytes = 0;
  pks_vfs_file file = PKS_VFS_NO_FILE;
  if (!status) { status = take_frames(resumption, segment, &stored_bytes, &found); }
  if (!status) {
    int failure = pks__vfs_open(vfs, incoming->store->root, path, PKS_VFS_OPEN_READ, &file);
    status = fail_path(failure, "cannot open", path, &found);
  }
  if (!status) {
    pks__run_segment_info info = {
      .id = *id,
      .kind = PKS__SEGMENT_DATA,
      .chunk_count = segment->chunk_count,
      .file_length = segment->file_length,
    };
    status = pks__segment_series_restore_sealed(&resumption->ingest->frames.series, &info, stored_bytes, file, &found);
    if (!status && record->is_shared) { incoming->shared_bytes += stored_bytes; }
  }
  if (is_open) { pks__segment_close(segment); }
  // Unreadable data is invalid too: otherwise a bad sector would prevent the version permanently.
  bool is_unreadable = status && (status == PKS_IO_ERROR || pks__error_is_damage(&found));
  if (!*taken && is_unreadable) { return PKS_OK; }
  if (status && error) { *error = found; }
  return status;
}

/// Whether a frame of the journal obeys the rules.
static bool frame_is_sane(const frame_record *record, const pks_le32 *ends) {
  uint64_t place = pks__get64(record->row.place);
  uint32_t count = pks__get32(record->chunk_count), stored = pks__get32(record->row.stored_length), end = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (pks__get32(ends[i]) <= end) { return false; }
    end = pks__get32(ends[i]);
  }
  bool is_raw = pks__place_codec(place) == PKS__CODEC_RAW;
  return pks__codec_is_known(pks__place_codec(place)) && stored > 0 && stored <= end && end <= PKS__FRAME_RAW_MAX
    && (!is_raw || stored == end);
}

/// Whether the file that was growing has stored bytes.
static pks_status has_bytes(
  resumption *resumption, pks_le64 place, pks_le32 stored_length, pks_le64 sum, bool *has, pks_error *error
) {
  pks__transfer_staging *incoming = resumption->incoming;
  const pks_vfs *vfs = incoming->store->vfs;
  uint32_t length = pks__get32(stored_length);
  int failure = 0;
  *has = false;
  if (resumption->growing == PKS_VFS_NO_FILE) {
    char name[NAME_SIZE], path[PKS__INCOMING_PATH];
    growing_name(resumption->restored, name);
    path_of(incoming, name, path);
    failure = pks__vfs_open(vfs, incoming->store->root, path, PKS_VFS_OPEN_READ, &resumption->growing);
    if (failure == ENOENT) { return PKS_OK; }
  }
  pks_status status = pks__scratch_reserve(&resumption->stored, length, error);
  if (status) { return status; }
  size_t got = 0;
  uint64_t offset = pks__place_offset(pks__get64(place));
  if (!failure) {
    failure = pks__vfs_read_at(vfs, resumption->growing, offset, resumption->stored.bytes, length, &got);
  }
  *has = !failure && got == length && pks__checksum(resumption->stored.bytes, length) == pks__get64(sum);
  return PKS_OK;
}

/// Takes up a frame of the segment that was growing. `*taken` is false when it does not count.
static pks_status take_frame(
  resumption *resumption, const frame_record *record, const uint8_t *columns, bool *taken, pks_error *error
) {
  uint32_t count = pks__get32(record->chunk_count);
  const pks__id *ids = (const pks__id *)(const void *)columns;
  const pks_le32 *ends = (const pks_le32 *)(const void *)(columns + count * sizeof *ids);
  *taken = frame_is_sane(record, ends);
  const pks__frame_row *row = &record->row;
  pks_status status = *taken ? has_bytes(resumption, row->place, row->stored_length, row->sum, taken, error) : PKS_OK;
  if (status || !*taken) { return status; }
  status = pks__frame_pipeline_restore(&resumption->ingest->frames, &record->row, ids, ends, count, taken, error);
  return status || !*taken ? status : add_chunks(resumption->ingest, ids, count, error);
}

/// Takes up a dictionary of the segment that was growing. `*taken` is false when it does not count.
static pks_status take_dictionary(
  resumption *resumption, const dictionary_record *record, bool *taken, pks_error *error
) {
  const pks__dictionary_row *row = &record->row;
  pks__frame_ref ref = pks__frame_ref_make(row->place, row->stored_length, pks__get32(row->raw_length), row->sum);
  *taken = pks__dictionary_ref_is_valid(&ref);
  pks_status status = *taken ? has_bytes(resumption, row->place, row->stored_length, row->sum, taken, error) : PKS_OK;
  if (status || !*taken) { return status; }
  return pks__segment_series_restore_dictionary(&resumption->ingest->frames.series, row, taken, error);
}

/// Reads a record of a frame; false when it is none.
static bool read_frame_record(const uint8_t *payload, size_t length, frame_record *out) {
  if (length < sizeof *out || payload[0] != RECORD_FRAME) { return false; }
  memcpy(out, payload, sizeof *out);
  uint64_t columns = (uint64_t)pks__get32(out->chunk_count) * (sizeof(pks__id) + sizeof(pks_le32));
  return pks__get32(out->chunk_count) > 0 && columns == length - sizeof *out;
}

/// Takes up the frames of the segment that was growing, and ends the journal where something does not count.
static pks_status take_growing(resumption *resumption, pks_error *error) {
  bool all_complete = resumption->restored == PKS__SCRATCH_COUNT(&resumption->complete, complete_record);
  for (;;) {
    pks__record_log_mark mark;
    const uint8_t *payload;
    size_t length;
    bool more, taken = false;
    pks_status status = next_record(resumption, &mark, &payload, &length, &more, error);
    if (status || !more) { return status; }
    frame_record frame;
    dictionary_record dictionary;
    complete_record complete;
    if (length == sizeof dictionary && payload[0] == RECORD_DICTIONARY) {
      memcpy(&dictionary, payload, sizeof dictionary);
      uint32_t segment = pks__get32(dictionary.segment);
      taken = segment < resumption->restored;
      bool is_growing = all_complete && segment == resumption->restored;
      if (is_growing) { status = take_dictionary(resumption, &dictionary, &taken, error); }
    } else if (read_frame_record(payload, length, &frame)) {
      uint32_t segment = pks__get32(frame.segment);
      taken = segment < resumption->restored;
      bool is_growing = all_complete && segment == resumption->restored;
      if (is_growing) { status = take_frame(resumption, &frame, payload + sizeof frame, &taken, error); }
    } else if (length == sizeof complete && payload[0] == RECORD_COMPLETE) {
      memcpy(&complete, payload, sizeof complete);
      taken = pks__get32(complete.segment) < resumption->restored;
    }
    if (status) { return status; }
    if (!taken) {
      pks__record_log_cut(&resumption->incoming->journal, mark);
      return PKS_OK;
    }
  }
}

static bool is_complete(const resumption *resumption, const pks__segment_id *id) {
  for (uint32_t i = 0; i < resumption->restored; i++) {
    const complete_record *record = PKS__SCRATCH_AT(&resumption->complete, const complete_record, i);
    if (pks__segment_id_equal(&record->id, id)) { return true; }
  }
  return false;
}

/// Adopts the shared segments, each under the next number. Invalid ones are skipped.
static pks_status take_shared(resumption *resumption, pks_error *error) {
  pks__transfer_staging *incoming = resumption->incoming;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&incoming->shared, pks__segment_id); i++) {
    complete_record record = {
      .kind = RECORD_COMPLETE,
      .is_shared = 1,
      .segment = pks__put32(resumption->restored),
      .id = *PKS__SCRATCH_AT(&incoming->shared, const pks__segment_id, i),
    };
    if (is_complete(resumption, &record.id)) { continue; }
    // Without records of segments that were not adopted.
    resumption->complete.length = resumption->restored * sizeof record;
    bool taken = false;
    status = pks__scratch_append(&resumption->complete, &record, sizeof record, error);
    if (!status) { status = take_complete(resumption, &taken, error); }
    if (status || !taken) { continue; }
    resumption->restored++;
    pks__record_part part = {&record, sizeof record};
    status = pks__record_log_append(&incoming->journal, &part, 1, NULL, error);
  }
  return status;
}

/// Whether a file of the folder stays: it was adopted.
static bool is_taken(const void *context, const char *name) {
  const resumption *resumption = context;
  char growing[NAME_SIZE];
  pks__segment_id id;
  growing_name(resumption->restored, growing);
  if (strcmp(name, PKS__INCOMING_JOURNAL) == 0 || strcmp(name, PAGES) == 0 || strcmp(name, growing) == 0) {
    return true;
  }
  return pks__segment_name_parse(name, &id) && is_complete(resumption, &id);
}

pks_status pks__transfer_staging_resume(pks__transfer_staging *incoming, pks__ingest *ingest, pks_error *error) {
  resumption resumption = {.incoming = incoming, .ingest = ingest, .growing = PKS_VFS_NO_FILE};
  pks__scratch_init(&resumption.complete, incoming->home);
  pks__scratch_init(&resumption.stored, incoming->home);
  pks_status status = find_complete(&resumption, error);
  bool taken = true;
  while (!status && taken && resumption.restored < PKS__SCRATCH_COUNT(&resumption.complete, complete_record)) {
    status = take_complete(&resumption, &taken, error);
    resumption.restored += taken && !status;
  }
  if (!status) { status = take_growing(&resumption, error); }
  if (!status && !ingest->frames.series.is_open) { status = take_shared(&resumption, error); }
  if (!status) { pks__incoming_clear(incoming->store, incoming->path, is_taken, &resumption); }
  if (PKS__SCRATCH_COUNT(&ingest->new_ids, pks__id) > 0) { incoming->is_used = true; }
  if (resumption.growing != PKS_VFS_NO_FILE) { pks__vfs_close(incoming->store->vfs, resumption.growing); }
  pks__scratch_free(&resumption.complete);
  pks__scratch_free(&resumption.stored);
  return status;
}

// MARK: - Sweeping
