/// Verification: the walk over all levels, its faults, and level 1. See `verification.h`.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "check/verification.h"
#include "check/verify_names.h"
#include "check/verify_runs.h"
#include "check/verify_segments.h"
#include "check/verify_versions.h"
#include "codec/checksum.h"
#include "store/control_recovery.h"

// MARK: - Faults

// MARK: - Findings

// MARK: - Control file and generation

/// Reads a small file whole into `v->stored`.
static pks_status read_file(pks__verification *v, const char *path) {
  const pks_vfs *vfs = v->snapshot->store->vfs;
  pks_vfs_file file = PKS_VFS_NO_FILE;
  pks_vfs_info info = {0};
  size_t got = 0;
  int failure = pks__vfs_open(vfs, v->snapshot->store->root, path, PKS_VFS_OPEN_READ, &file);
  if (failure) { return pks__fail_system(&v->found, failure, "cannot open", path); }
  failure = pks__vfs_info_of(vfs, file, &info);
  v->stored.length = 0;
  pks_status status = failure ? PKS_OK : pks__scratch_append(&v->stored, NULL, info.size, &v->found);
  // An empty file has nothing to read, and its array may be NULL.
  bool is_readable = !failure && !status && info.size > 0;
  if (is_readable) { failure = pks__vfs_read_at(vfs, file, 0, v->stored.bytes, (size_t)info.size, &got); }
  pks__vfs_close(vfs, file);
  if (failure) { return pks__fail_system(&v->found, failure, "cannot read", path); }
  if (!status && got != info.size) { return pks__fail(&v->found, PKS_CORRUPT, "is truncated", path, got); }
  return status;
}

/// Reports every damaged copy of a slot. A copy that a crash kept from being written may have any contents.
static void check_copies(pks__verification *v, const pks__control *control) {
  for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
    for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
      if (control->copies[slot][copy] < PKS__COPY_SHORT) { continue; }
      v->totals.damaged_copy_count++;
      pks__verify_report(v, "a copy of a control slot is damaged", PKS__CONTROL_FILE, pks__control_offset(slot, copy));
    }
  }
  v->totals.may_hide_commit = control->may_hide;
}

static pks_status check_control(pks__verification *v, pks__control *control) {
  pks_store *store = v->snapshot->store;
  v->totals.files_checked++;
  pks_vfs_info info;
  pks_status status = pks__store_read_control(store, control, &v->found);
  int failure = status ? 0 : pks__vfs_info_of(store->vfs, store->control, &info);
  if (failure) { status = pks__fail_system(&v->found, failure, "cannot examine", PKS__CONTROL_FILE); }
  if (status) { return pks__verify_settle(v, status, NULL); }
  v->totals.bytes_checked += PKS__CONTROL_SIZE;
  check_copies(v, control);
  // A file that is too short lacks copies, which was reported.
  if (info.size > PKS__CONTROL_SIZE) {
    pks__verify_report(v, "control file is longer than it should be", PKS__CONTROL_FILE, PKS__CONTROL_SIZE);
  }
  return PKS_OK;
}

static pks_status check_generation(pks__verification *v, const pks__control *control) {
  uint64_t number = v->snapshot->generation.number;
  pks__generation generation = {0};
  char path[PKS__INDEX_NAME];
  pks__generation_path(number, path);
  v->totals.files_checked++;
  pks_status status = read_file(v, path);
  if (!status) {
    status = pks__generation_decode(v->stored.bytes, (size_t)v->stored.length, path, &generation, &v->found);
  }
  if (status) { return pks__verify_settle(v, status, NULL); }
  v->totals.bytes_checked += v->stored.length;
  if (generation.number != number) {
    pks__verify_report(v, "generation differs from its file name", path, PKS_NO_OFFSET);
  }
  pks__generation_free(&generation);
  uint64_t sum = pks__checksum(v->stored.bytes, (size_t)v->stored.length);
  for (uint64_t i = 0; i < PKS__CONTROL_SLOTS; i++) {
    const pks__control_slot *slot = &control->slots[i];
    if (slot->generation != number || (slot->file_length == v->stored.length && slot->file_sum == sum)) { continue; }
    pks__verify_report(v, "control slot names another generation file", PKS__CONTROL_FILE, pks__control_offset(i, 0));
  }
  return PKS_OK;
}

// MARK: - The whole store

static pks_status open_verification(pks__verification *v) {
  size_t runs = v->snapshot->run_count, packs = v->snapshot->generation.pack_count;
  v->runs = pks__allocate_zeroed(runs + 1, sizeof *v->runs);
  v->record_counts = pks__allocate_zeroed(packs + 1, sizeof *v->record_counts);
  v->path = pks__allocate(PKS__PATH_MAX + 1);
  if (!v->runs || !v->record_counts || !v->path) { return pks__fail_memory(&v->found); }
  v->finding_map.key = v->hurt.key = v->snapshot->store->map_key;
  v->runs_are_sound = v->runs_are_long = v->pages_are_sound = true;
  pks_status status = pks__segment_checker_open(&v->inspector, &v->found);
  return status ? status : pks__segment_list_open(&v->segments, v->snapshot, &v->found);
}

static void close_verification(pks__verification *v) {
  for (uint32_t i = 0; v->runs && i < v->snapshot->run_count; i++) { pks__run_close(&v->runs[i]); }
  pks__free(v->runs);
  pks__free(v->record_counts);
  pks__free(v->path);
  pks__free(v->states);
  pks__segment_checker_close(&v->inspector);
  pks__segment_list_close(&v->segments);
  pks__scratch_free(&v->findings);
  pks__hash_map_free(&v->finding_map);
  pks__hash_map_free(&v->hurt);
  pks__scratch_free(&v->stored);
}

/// Lists the segments. A damaged run may contain some that no other does: the snapshot's own run, the same file, is used.
static pks_status list_segments(pks__verification *v) {
  for (uint32_t i = 0; i < v->snapshot->run_count; i++) {
    pks__run *run = v->runs[i].table.body ? &v->runs[i] : &v->snapshot->runs[i].open->run;
    if (!v->runs[i].table.body && !v->runs_are_long) { continue; }
    pks_status status = pks__segment_list_add(&v->segments, i, run, &v->found);
    if (status && !pks__error_is_damage(&v->found)) { return status; }
    if (status) {
      // Readable rows are listed; the others were reported with the run.
      pks__free(v->segments.numbers[i]);
      v->segments.numbers[i] = NULL;
    }
  }
  uint32_t count = pks__segment_list_count(&v->segments);
  for (uint32_t i = 0; i < count; i++) { v->bytes_total += pks__segment_list_at(&v->segments, i)->info.file_length; }
  v->states = pks__allocate_zeroed((size_t)count + 1, sizeof *v->states);
  return v->states ? PKS_OK : pks__fail_memory(&v->found);
}

static pks_status check_versions(pks__verification *v) {
  const pks__generation *generation = &v->snapshot->generation;
  uint32_t packs = generation->pack_count + generation->removed_count;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; v->pages_are_sound && pack < packs; pack++) {
    uint32_t versions = pks__generation_any_pack(generation, pack)->version_count;
    for (uint32_t i = 0; !status && i < versions; i++) { status = pks__verify_version(v, pack, i); }
  }
  return status;
}

static pks_status check_all(pks__verification *v) {
  pks__control control = {0};
  uint32_t runs = v->snapshot->run_count;
  pks_status status = check_control(v, &control);
  if (!status) { status = check_generation(v, &control); }
  for (uint32_t i = 0; !status && i < runs; i++) { status = pks__verify_run(v, i); }
  if (!status) { status = list_segments(v); }
  for (uint32_t i = 0; !status && i < pks__segment_list_count(&v->segments); i++) {
    status = pks__verify_segment(v, i);
  }
  for (uint32_t i = 0; !status && i < runs; i++) { status = pks__verify_run_against_segments(v, i); }
  if (!status && v->runs_are_sound) {
    status = pks__verify_namespace(v);
    if (!status) { status = check_versions(v); }
  } else if (!status && v->runs_are_long) {
    status = pks__verify_lookups(v);
  }
  if (!status) { pks__verify_tell_rest(v); }
  return status;
}

pks_status pks_snapshot_verify(
  const pks_snapshot *snapshot, bool deep, void (*fault)(void *context, const pks_fault *fault),
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total), void *context, pks_verify_totals *totals,
  pks_error *error
) {
  pks_sha256 *sha256 = snapshot->store->sha256;
  pks_status forked = pks__store_check_process(snapshot->store, error);
  if (forked) { return forked; }
  if (deep && !sha256) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_HASH, PKS_SUBJECT_STORE, NULL,
      "opened without 'pks_options.sha256', which a deep check needs"
    );
  }
  // Bitmaps and lazily opened segments change behind a snapshot that is constant to its user.
  pks__verification v = {
    .snapshot = pks__snapshot_mutable(snapshot),
    .deep = deep,
    .fault = fault,
    .progress = progress,
    .context = context};
  v.inspector =
    (pks__segment_checker){.sha256 = sha256, .sha256_many = snapshot->store->sha256_many, .deep = deep, .context = &v};
  pks__vfs_retry_init(&v.patient, snapshot->store->vfs);
  pks_status status = open_verification(&v);
  if (!status) { status = check_all(&v); }
  v.totals.frames_checked = v.inspector.frames_checked;
  v.totals.chunks_checked = v.inspector.chunks_checked;
  v.totals.bytes_checked += v.inspector.bytes_checked;
  if (!status && totals) { *totals = v.totals; }
  if (status && error) { *error = v.found; }
  close_verification(&v);
  return status;
}
