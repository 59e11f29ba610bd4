#include "store/open_run.h"

#include <string.h>

#include "base/memory.h"
#include "store/segment_registry.h"

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

void pks__open_run_release(pks_store *store, pks__open_run *open) {
  pks__mutex_lock(store->mutex);
  bool last = --open->references == 0;
  pks__mutex_unlock(store->mutex);
  if (last) { open_run_close(store, open); }
}

/// Returns a run that a live snapshot has open, with a reference for the caller; NULL if none.
static pks__open_run *find_open_run(pks_store *store, uint64_t name) {
  pks__mutex_lock(store->mutex);
  pks__open_run *found = NULL;
  for (pks_snapshot *snapshot = store->snapshots; snapshot && !found; snapshot = snapshot->next) {
    for (uint32_t i = 0; i < snapshot->run_count && !found; i++) {
      if (snapshot->runs[i].open->name == name) { found = snapshot->runs[i].open; }
    }
  }
  if (found) { found->references++; }
  pks__mutex_unlock(store->mutex);
  return found;
}

pks_status pks__open_run_take(
  pks_store *store, const pks__run_ref *ref, pks_vfs_file staging, pks__open_run **out, pks_error *error
) {
  *out = find_open_run(store, ref->name.name);
  if (*out) { return PKS_OK; }
  char path[PKS__INDEX_NAME];
  pks__run_path(ref->name.name, path);
  pks__open_run *open = pks__allocate_zeroed(1, sizeof *open);
  if (!open) { return pks__fail_memory(error); }
  open->name = ref->name.name;
  open->references = 1;
  bool may_be_staged = staging != PKS_VFS_NO_FILE;
  pks_status status = pks__run_open(&open->run, store->vfs, store->root, path, may_be_staged ? NULL : error);
  if (status && may_be_staged) {
    status = pks__run_open(&open->run, store->vfs, staging, strrchr(path, '/') + 1, error);
  }
  if (!status) {
    const pks__table *table = &open->run.table;
    bool expected = table->file_length == ref->name.file_length && table->trailer_sum == ref->name.trailer_sum
      && open->run.pack_count == ref->pack_count;
    if (!expected) {
      status = pks__fail(error, PKS_CORRUPT, "differs from the index run named by the generation", path, PKS_NO_OFFSET);
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

/// Words of one bit per frame.
static size_t word_count(const pks__open_run *open) { return (size_t)open->run.frame_count / 64 + 1; }

bool pks__open_run_is_checked(const pks__open_run *open, uint32_t frame) {
  _Atomic(uint64_t) *checked = atomic_load_explicit(&open->checked, memory_order_acquire);
  return checked && (atomic_load_explicit(&checked[frame / 64], memory_order_acquire) >> (frame % 64) & 1);
}

/// Whether all bits in `[first, end)` are set.
static bool all_set(_Atomic(uint64_t) *words, uint64_t first, uint64_t end) {
  while (first < end) {
    uint64_t bits = pks__min64(end - first, 64 - first % 64);
    uint64_t mask = (UINT64_MAX >> (64 - bits)) << (first % 64);
    if ((atomic_load_explicit(&words[first / 64], memory_order_acquire) & mask) != mask) { return false; }
    first += bits;
  }
  return true;
}

bool pks__open_run_is_one_piece(const pks__open_run *open, uint32_t first, uint32_t last) {
  _Atomic(uint64_t) *checked = atomic_load_explicit(&open->checked, memory_order_acquire);
  return checked && last < open->run.frame_count && all_set(checked, first, (uint64_t)last + 1)
    && all_set(checked + word_count(open), first, last);
}

/// The bits, or NULL when memory is short.
static _Atomic(uint64_t) *need_bits(pks__open_run *open) {
  _Atomic(uint64_t) *checked = atomic_load_explicit(&open->checked, memory_order_acquire);
  if (checked) { return checked; }
  _Atomic(uint64_t) *made = pks__allocate_zeroed(2 * word_count(open), sizeof *made);
  if (!made || atomic_compare_exchange_strong(&open->checked, &checked, made)) { return made; }
  pks__free((void *)made);
  return checked;
}

/// Looked at first: threads that read the same assets share the line, as long as none writes to it.
static void set_bit(_Atomic(uint64_t) *words, uint32_t index) {
  uint64_t bit = (uint64_t)1 << (index % 64);
  bool is_set = atomic_load_explicit(&words[index / 64], memory_order_relaxed) & bit;
  if (!is_set) { atomic_fetch_or_explicit(&words[index / 64], bit, memory_order_release); }
}

void pks__open_run_set_checked(pks__open_run *open, uint32_t frame) {
  _Atomic(uint64_t) *bits = need_bits(open);
  if (bits) { set_bit(bits, frame); }
}

void pks__open_run_set_abuts_next(pks__open_run *open, uint32_t frame) {
  _Atomic(uint64_t) *bits = need_bits(open);
  if (bits) { set_bit(bits + word_count(open), frame); }
}
