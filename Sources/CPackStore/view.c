#include <errno.h>
#include <string.h>

#include "adopt.h"
#include "checksum.h"
#include "memory.h"
#include "store.h"

// MARK: - Open runs

static void open_run_close(pks_store *store, pks__open_run *open) {
  if (open->segments) {
    for (uint32_t i = 0; i < open->run.segment_count; i++) {
      pks__segment *segment = atomic_load(&open->segments[i]);
      if (segment) { pks__store_release_segment(store, segment); }
    }
  }
  pks__free((void *)open->segments);
  pks__free((void *)atomic_load(&open->checked));
  pks__run_close(&open->run);
  pks__free(open);
}

/// Drops a reference; the mutex is not held.
static void open_run_release(pks_store *store, pks__open_run *open) {
  pks__mutex_lock(store->mutex);
  bool last = --open->references == 0;
  pks__mutex_unlock(store->mutex);
  if (last) { open_run_close(store, open); }
}

/// A run that a live view has open, with a reference for the caller; NULL when there is none.
static pks__open_run *find_open_run(pks_store *store, uint64_t name) {
  pks__mutex_lock(store->mutex);
  pks__open_run *found = NULL;
  for (pks__view *view = store->views; view && !found; view = view->next) {
    for (uint32_t i = 0; i < view->run_count && !found; i++) {
      if (view->runs[i].open->name == name) { found = view->runs[i].open; }
    }
  }
  if (found) { found->references++; }
  pks__mutex_unlock(store->mutex);
  return found;
}

static pks_status open_run(
  pks_store *store, const pks__run_ref *ref, pks__file session, pks__open_run **out, pks_error *error
) {
  *out = find_open_run(store, ref->name.name);
  if (*out) { return PKS_OK; }
  char path[PKS__INDEX_NAME];
  pks__run_path(ref->name.name, path);
  pks__open_run *open = pks__allocate_zeroed(1, sizeof *open);
  if (!open) { return pks__fail_memory(error); }
  open->name = ref->name.name;
  open->references = 1;
  bool may_be_staged = session != PKS__NO_FILE;
  pks_status status = pks__run_open(&open->run, store->vfs, store->root, path, may_be_staged ? NULL : error);
  if (status && may_be_staged) {
    status = pks__run_open(&open->run, store->vfs, session, strrchr(path, '/') + 1, error);
  }
  if (!status) {
    const pks__table *table = &open->run.table;
    bool expected = table->file_length == ref->name.file_length && table->trailer_sum == ref->name.trailer_sum
      && open->run.pack_count == ref->pack_count;
    if (!expected) {
      status = pks__fail(error, PKS_CORRUPT, "not the run that the generation names", path, PKS_NO_OFFSET);
    }
  }
  if (!status) {
    open->segments = pks__allocate_zeroed((size_t)open->run.segment_count + 1, sizeof *open->segments);
    if (!open->segments) { status = pks__fail_memory(error); }
  }
  if (status) {
    open_run_close(store, open);
    return status;
  }
  *out = open;
  return PKS_OK;
}

bool pks__open_run_is_checked(const pks__open_run *open, uint32_t frame) {
  _Atomic(uint64_t) *checked = atomic_load_explicit(&open->checked, memory_order_acquire);
  return checked && (atomic_load_explicit(&checked[frame / 64], memory_order_acquire) >> (frame % 64) & 1);
}

void pks__open_run_set_checked(pks__open_run *open, uint32_t frame) {
  _Atomic(uint64_t) *checked = atomic_load_explicit(&open->checked, memory_order_acquire);
  if (!checked) {
    _Atomic(uint64_t) *made = pks__allocate_zeroed((size_t)open->run.frame_count / 64 + 1, sizeof *made);
    if (!made) { return; }
    if (atomic_compare_exchange_strong(&open->checked, &checked, made)) {
      checked = made;
    } else {
      pks__free((void *)made);
    }
  }
  // Looked at first: threads that read the same assets share the line, as long as nobody writes to it.
  _Atomic(uint64_t) *word = &checked[frame / 64];
  uint64_t bit = (uint64_t)1 << (frame % 64);
  bool is_set = atomic_load_explicit(word, memory_order_relaxed) & bit;
  if (!is_set) { atomic_fetch_or_explicit(word, bit, memory_order_release); }
}

// MARK: - Making a view

static pks_status open_view_run(
  pks__view *view, const pks__run_ref *ref, pks__file session, pks__view_run *out, pks_error *error
) {
  pks_status status = open_run(view->store, ref, session, &out->open, error);
  if (status) { return status; }
  out->ranks = pks__allocate((size_t)(ref->pack_count + 1) * sizeof *out->ranks);
  if (!out->ranks) { return pks__fail_memory(error); }
  for (uint32_t i = 0; i < ref->pack_count; i++) {
    out->ranks[i] = pks__generation_find_number(&view->generation, ref->pack_numbers[i]);
  }
  return PKS_OK;
}

pks_status pks__view_create(
  pks__view **out, pks_store *store, pks__generation *generation, pks__file session, pks_error *error
) {
  pks__view *view = pks__allocate_zeroed(1, sizeof *view);
  pks__view_run *runs = pks__allocate_zeroed((size_t)generation->run_count + 1, sizeof *runs);
  if (!view || !runs) {
    pks__free(view);
    pks__free(runs);
    pks__generation_free(generation);
    return pks__fail_memory(error);
  }
  view->store = store;
  view->references = 1;
  view->runs = runs;
  view->generation = *generation;
  *generation = (pks__generation){0};
  pks__path_hasher_init(&view->hasher, view->generation.path_key);
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < view->generation.run_count; i++) {
    status = open_view_run(view, &view->generation.runs[i], session, &runs[i], error);
    if (runs[i].open) { view->run_count = i + 1; }
  }
  pks__mutex_lock(store->mutex);
  view->next = store->views;
  store->views = view;
  pks__mutex_unlock(store->mutex);
  if (status) {
    pks__view_release(view);
    return status;
  }
  *out = view;
  return PKS_OK;
}

// MARK: - Pins

/// Takes the byte of a generation for a view that is about to be made. The lock `opening` is held.
static pks_status pin(pks_store *store, uint64_t generation, pks_error *error) {
  pks__mutex_lock(store->mutex);
  store->pinning = generation;
  pks__mutex_unlock(store->mutex);
  pks_status status = pks__pin_generation(store->vfs, store->readers_file, generation, error);
  if (status) {
    pks__mutex_lock(store->mutex);
    store->pinning = 0;
    pks__mutex_unlock(store->mutex);
  }
  return status;
}

/// Gives the byte of a generation back unless a view needs it, or one that is about to be made. All of a store's pins
/// belong to one opening of `READERS`, which holds a byte or does not, however often it was taken.
static void unpin(pks_store *store, uint64_t generation) {
  pks__mutex_lock(store->mutex);
  bool is_needed = store->pinning == generation;
  for (const pks__view *view = store->views; view && !is_needed; view = view->next) {
    is_needed = view->is_pinned && view->generation.number == generation;
  }
  if (!is_needed) { pks__unpin_generation(store->vfs, store->readers_file, generation); }
  pks__mutex_unlock(store->mutex);
}

/// Ends what `pin` began: the byte is the view's now, or nobody's.
static void finish_pin(pks_store *store, pks__view *view, uint64_t generation) {
  pks__mutex_lock(store->mutex);
  store->pinning = 0;
  if (view) { view->is_pinned = true; }
  pks__mutex_unlock(store->mutex);
  if (!view) { unpin(store, generation); }
}

static void view_close(pks__view *view) {
  pks_store *store = view->store;
  for (uint32_t i = 0; i < view->run_count; i++) {
    pks__free(view->runs[i].ranks);
    open_run_release(store, view->runs[i].open);
  }
  if (view->is_pinned) { unpin(store, view->generation.number); }
  pks__free(view->runs);
  pks__generation_free(&view->generation);
  pks__free(view);
}

pks__view *pks__view_retain(pks__view *view) {
  pks__mutex_lock(view->store->mutex);
  view->references++;
  pks__mutex_unlock(view->store->mutex);
  return view;
}

void pks__view_release(pks__view *view) {
  if (!view) { return; }
  pks_store *store = view->store;
  pks__mutex_lock(store->mutex);
  bool last = --view->references == 0;
  if (last) {
    pks__view **link = &store->views;
    while (*link != view) { link = &(*link)->next; }
    *link = view->next;
  }
  pks__mutex_unlock(store->mutex);
  if (last) { view_close(view); }
}

// MARK: - The current generation

/// Reads the bytes of a generation's file, to be freed by the caller.
static pks_status read_bytes(pks_store *store, const char *path, uint8_t **out, size_t *length, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks__file file = PKS__NO_FILE;
  pks__file_info info = {0};
  size_t got = 0;
  *out = NULL;
  int failure = vfs->open(vfs->context, store->root, path, PKS__OPEN_READ, &file);
  if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
  failure = vfs->info_of(vfs->context, file, &info);
  pks_status status = PKS_OK;
  if (!failure && info.size > PKS__GENERATION_FILE_MAX) {
    status = pks__fail(error, PKS_CORRUPT, "file is too long for a generation", path, 0);
  }
  if (!failure && !status) {
    *out = pks__allocate((size_t)info.size + 1);
    if (*out) {
      failure = vfs->read_at(vfs->context, file, 0, *out, (size_t)info.size, &got);
    } else {
      status = pks__fail_memory(error);
    }
  }
  vfs->close(vfs->context, file);
  *length = got;
  if (failure) { status = pks__fail_system(error, failure, "cannot read", path); }
  if (!status && got != info.size) { status = pks__fail(error, PKS_CORRUPT, "file is truncated", path, got); }
  if (status) {
    pks__free(*out);
    *out = NULL;
  }
  return status;
}

pks_status pks__store_load_generation(
  pks_store *store, uint64_t number, pks__generation *out, pks__generation_file *file, pks_error *error
) {
  char path[PKS__INDEX_NAME];
  uint8_t *bytes;
  size_t length;
  pks__generation_path(number, path);
  pks_status status = read_bytes(store, path, &bytes, &length, error);
  if (status) { return status; }
  *file = (pks__generation_file){.length = length, .sum = pks__checksum(bytes, length)};
  status = pks__generation_decode(bytes, length, path, out, error);
  if (!status && out->number != number) {
    pks__generation_free(out);
    status = pks__fail(error, PKS_CORRUPT, "file is of another generation", path, 16);
  }
  pks__free(bytes);
  return status;
}

pks_status pks__store_read_generation(
  pks_store *store, uint64_t number, const pks__control_slot *slot, pks__generation *out, pks_error *error
) {
  pks__generation_file file;
  pks_status status = pks__store_load_generation(store, number, out, &file, error);
  if (status || !slot || (slot->file_length == file.length && slot->file_sum == file.sum)) { return status; }
  char path[PKS__INDEX_NAME];
  pks__generation_path(number, path);
  pks__generation_free(out);
  return pks__fail(error, PKS_CORRUPT, "not the generation that the control file names", path, 0);
}

/// Reads the control file, and takes note of what it says.
static pks_status read_control(pks_store *store, pks__control *out, pks_error *error) {
  pks_status status = pks__store_read_control(store, out, error);
  if (!status) { pks__watch_settle(&store->watch, out); }
  return status;
}

/// Takes a reference to the current view if it is of that generation.
static pks__view *retain_current(pks_store *store, uint64_t generation) {
  pks__mutex_lock(store->mutex);
  pks__view *view = store->current;
  if (view && view->generation.number == generation) {
    view->references++;
  } else {
    view = NULL;
  }
  pks__mutex_unlock(store->mutex);
  return view;
}

/// Makes `view` the store's current one, with a reference of the store's own.
static void set_current(pks_store *store, pks__view *view) {
  pks__mutex_lock(store->mutex);
  pks__view *old = store->current;
  bool newer = !old || old->generation.number <= view->generation.number;
  if (newer) {
    store->current = view;
    view->references++;
  }
  pks__mutex_unlock(store->mutex);
  if (newer) { pks__view_release(old); }
}

/// Locks the generation that the control file names, and sees that it still is named afterwards (invariant 2).
static pks_status pin_current(pks_store *store, pks__control_slot *slot, bool *pinned, pks_error *error) {
  *pinned = false;
  for (;;) {
    pks__control control;
    pks_status status = read_control(store, &control, error);
    if (status) { return status; }
    // Not always a newer one: a slot that is half written just now lets the other one appear current.
    uint64_t before = *pinned ? slot->generation : 0;
    *slot = *pks__control_current(&control);
    if (before == slot->generation || store->readers_file == PKS__NO_FILE) { return PKS_OK; }
    if (*pinned) { finish_pin(store, NULL, before); }
    status = pin(store, slot->generation, error);
    *pinned = status == PKS_OK;
    if (status) { return status; }
  }
}

pks_status pks__view_open_current(pks__view **out, pks_store *store, pks_error *error) {
  uint64_t newest = pks__watch_newest(&store->watch);
  *out = newest ? retain_current(store, newest) : NULL;
  if (*out) { return PKS_OK; }
  pks__control control;
  pks_status status = read_control(store, &control, error);
  if (status) { return status; }
  *out = retain_current(store, pks__control_current(&control)->generation);
  if (*out) { return PKS_OK; }
  pks__mutex_lock(store->opening);
  status = read_control(store, &control, error);
  *out = status ? NULL : retain_current(store, pks__control_current(&control)->generation);
  if (!status && !*out) {
    pks__control_slot slot;
    pks__generation generation = {0};
    bool pinned = false;
    status = pin_current(store, &slot, &pinned, error);
    if (!status) { status = pks__store_read_generation(store, slot.generation, &slot, &generation, error); }
    if (!status) { status = pks__view_create(out, store, &generation, PKS__NO_FILE, error); }
    if (pinned) { finish_pin(store, status ? NULL : *out, slot.generation); }
    if (!status) { set_current(store, *out); }
  }
  pks__mutex_unlock(store->opening);
  return status;
}

pks_status pks__view_open_number(pks__view **out, pks_store *store, uint64_t number, pks_error *error) {
  pks__generation generation = {0};
  pks_status status = pks__store_read_generation(store, number, NULL, &generation, error);
  return status ? status : pks__view_create(out, store, &generation, PKS__NO_FILE, error);
}

// MARK: - Segments and chunks

/// A segment that the view's transaction has staged. Another commit may have collected a file of the same content: then
/// the one object of both says that it is gone, and this transaction has the bytes nevertheless.
static pks__segment *find_staged(const pks__view *view, const pks__segment_id *id) {
  for (uint64_t i = 0; view->staged && i < PKS__SCRATCH_COUNT(view->staged, pks__staged_segment); i++) {
    pks__segment *segment = PKS__SCRATCH_AT(view->staged, pks__staged_segment, i)->segment;
    if (pks__segment_id_equal(&segment->id, id)) { return segment; }
  }
  return NULL;
}

/// A reference to the segment, open already or opened now.
static pks_status take_segment(pks__view *view, const pks__segment_id *id, pks__segment **out, pks_error *error) {
  *out = find_staged(view, id);
  if (!*out) { return pks__store_get_segment(view->store, id, out, error); }
  pks__store_retain_segment(view->store, *out);
  return PKS_OK;
}

pks_status pks__view_segment(pks__view *view, uint32_t run, uint32_t index, pks__segment **out, pks_error *error) {
  pks__open_run *open = view->runs[run].open;
  if (index >= open->run.segment_count) {
    return pks__fail(
      error, PKS_CORRUPT, "index names a segment that it does not list", open->run.table.name, PKS_NO_OFFSET
    );
  }
  pks__segment *segment = atomic_load_explicit(&open->segments[index], memory_order_acquire);
  if (!segment) {
    pks__run_segment_info info;
    pks_status status = pks__run_segment_at(&open->run, index, &info, error);
    if (!status) { status = take_segment(view, &info.id, &segment, error); }
    if (status) { return status; }
    pks__segment *expected = NULL;
    if (!atomic_compare_exchange_strong(&open->segments[index], &expected, segment)) {
      pks__store_release_segment(view->store, segment);
      segment = expected;
    }
  }
  *out = segment;
  return PKS_OK;
}

/// Whether nothing new may refer to the segment.
static bool is_gone(const pks__view *view, const pks__segment *segment) {
  return atomic_load(&segment->is_gone) && find_staged(view, &segment->id) != segment;
}

/// Whether a hint is the chunk that is looked for. A segment that was purged has no chunks any more, a table that cannot
/// be believed has none to offer, and neither has a frame that was found damaged: what they had is stored anew. Pages are
/// looked for in order to be read, which says what is wrong with them.
static pks_status confirm(
  pks__view *view, pks__chunk_ref *hint, const pks__id *id, pks__segment_kind kind, bool *confirmed, pks_error *error
) {
  *confirmed = false;
  pks_status status = pks__view_segment(view, hint->run, hint->segment_index, &hint->segment, error);
  if (status) { return status == PKS_PURGED ? PKS_OK : status; }
  if (is_gone(view, hint->segment)) { return PKS_OK; }
  status = pks__segment_need_table(hint->segment, error);
  if (status) { return status == PKS_CORRUPT ? PKS_OK : status; }
  if (hint->row >= hint->segment->chunk_count || hint->segment->kind != (uint32_t)kind) { return PKS_OK; }
  const pks__id *stored;
  status = pks__segment_chunk_id(hint->segment, hint->row, &stored, error);
  if (status) { return status == PKS_CORRUPT ? PKS_OK : status; }
  *confirmed =
    pks__id_equal(stored, id) && (kind == PKS__SEGMENT_METADATA || !pks__segment_row_is_bad(hint->segment, hint->row));
  return PKS_OK;
}

pks_status pks__view_next_chunk(
  pks__view *view, const pks__id *id, pks__segment_kind kind, pks__chunk_probe *probe, pks__chunk_ref *out, bool *found,
  pks_error *error
) {
  uint64_t prefix = pks__id_prefix(id);
  *found = false;
  for (; probe->runs < view->run_count; probe->runs++, probe->row = 0) {
    pks__chunk_ref hint = {.run = view->run_count - 1 - probe->runs};
    pks__run *run = &view->runs[hint.run].open->run;
    for (bool more = true; more;) {
      pks_status status = pks__run_find_chunk(run, prefix, &probe->row, &hint.segment_index, &hint.row, &more, error);
      if (!status && more) { status = confirm(view, &hint, id, kind, found, error); }
      if (status) { return status; }
      if (*found) {
        *out = hint;
        return PKS_OK;
      }
    }
  }
  return PKS_OK;
}

pks_status pks__view_find_chunk(
  pks__view *view, const pks__id *id, pks__segment_kind kind, pks__chunk_ref *out, bool *found, pks_error *error
) {
  pks__chunk_probe probe = {0};
  return pks__view_next_chunk(view, id, kind, &probe, out, found, error);
}

pks_status pks__view_read_chunk(pks__view *view, const pks__chunk_ref *ref, pks__scratch *out, pks_error *error) {
  pks__chunk_place place;
  pks__frame frame;
  pks_status status = pks__segment_chunk(ref->segment, ref->row, &place, error);
  if (!status) { status = pks__segment_frame(ref->segment, place.frame, &frame, error); }
  pks__frame_reader *reader = NULL;
  if (!status) { status = pks__frame_reader_take(&view->store->readers, &reader, error); }
  if (status) { return status; }
  pks__frame_source source = pks__frame_source_make(ref->segment, &frame);
  const uint8_t *raw;
  status = pks__frame_decode(reader, &source, &raw, error);
  if (!status) { status = pks__scratch_append(out, raw + place.begin, place.end - place.begin, error); }
  pks__frame_reader_return(&view->store->readers, reader);
  return status;
}

// MARK: - Pages

static pks_status get_page(void *context, const pks__id *id, pks__scratch *out, pks_error *error) {
  pks__view *view = context;
  pks__chunk_ref ref;
  bool found;
  out->length = 0;
  pks_status status = pks__view_find_chunk(view, id, PKS__SEGMENT_METADATA, &ref, &found, error);
  if (status) { return status; }
  if (!found) {
    char name[2 * PKS__ID_SIZE + 1];
    pks__hex(id->bytes, sizeof id->bytes, name);
    return pks__fail(error, PKS_CORRUPT, "catalog page is missing", name, PKS_NO_OFFSET);
  }
  return pks__view_read_chunk(view, &ref, out, error);
}

pks__page_source pks__view_pages(pks__view *view) { return (pks__page_source){.context = view, .get = get_page}; }

// MARK: - Public

pks_status pks_snapshot_open(pks_snapshot **out, pks_store *store, pks_error *error) {
  pks_status status = pks__store_check_process(store, error);
  return status ? status : pks__view_open_current(out, store, error);
}

pks_status pks_store_generation(uint64_t *generation, pks_store *store, pks_error *error) {
  pks_status status = pks__store_check_process(store, error);
  if (status) { return status; }
  uint64_t newest = pks__watch_newest(&store->watch);
  if (!newest) {
    pks__control control;
    status = read_control(store, &control, error);
    if (status) { return status; }
    newest = pks__control_current(&control)->generation;
  }
  *generation = newest;
  return PKS_OK;
}

void pks_snapshot_close(pks_snapshot *snapshot) {
  if (snapshot && pks__store_is_ours(snapshot->store)) { pks__view_release(snapshot); }
}

uint64_t pks_snapshot_generation(const pks_snapshot *snapshot) { return snapshot->generation.number; }

uint32_t pks_snapshot_origin_count(const pks_snapshot *snapshot) {
  return pks__origins_count(&snapshot->generation.origins);
}

pks_origin pks_snapshot_origin(const pks_snapshot *snapshot, uint32_t index) {
  return pks__origins_at(&snapshot->generation.origins, index);
}
bool pks_snapshot_is_site(const pks_snapshot *snapshot) { return snapshot->generation.is_site; }

uint32_t pks_snapshot_pack_count(const pks_snapshot *snapshot) { return snapshot->generation.pack_count; }

uint32_t pks_snapshot_removed_count(const pks_snapshot *snapshot) { return snapshot->generation.removed_count; }

pks_pack pks_snapshot_pack(const pks_snapshot *snapshot, uint32_t index) {
  return pks__generation_pack(&snapshot->generation, index);
}

pks_version pks_snapshot_version(const pks_snapshot *snapshot, uint32_t pack, uint32_t version) {
  const pks__pack_state *state = pks__generation_any_pack(&snapshot->generation, pack);
  PKS_ASSERT(version < state->version_count);
  return pks__version_public(&state->versions[version]);
}

uint32_t pks_snapshot_find_pack(const pks_snapshot *snapshot, const char *name) {
  return pks__generation_find_pack(&snapshot->generation, name);
}
