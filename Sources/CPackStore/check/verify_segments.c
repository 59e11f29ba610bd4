/// Verification, levels 3 and 4: each segment by itself, then the references of runs to it. See `verification.h`.
#include "check/verify_segments.h"

#include <stdio.h>
#include <string.h>

#include "store/segment_registry.h"
#include "store/snapshot.h"

// MARK: - Segments

/// Holds faults of frames back until it is known which assets they damage; reports all others.
static void take_fault(void *context, const pks_error *fault, const pks__frame *frame) {
  pks__verification *v = context;
  v->found = *fault;
  pks_status status = fault->status;
  if (frame) {
    // A read that came short has measured the file again.
    bool is_there =
      v->inspected && pks__range_fits(frame->ref.offset, frame->ref.stored_length, atomic_load(&v->inspected->present));
    pks__frame_finding finding = {
      .segment = v->segment,
      .offset = frame->ref.offset,
      .length = frame->ref.stored_length,
      .is_bad = true,
      .is_cached_damage = is_there && fault->status == PKS_PURGED,
      .status = fault->status,
      .system_error = fault->system_error,
      .text = fault->text,
    };
    status = pks__verify_note(v, &finding);
  }
  // Without memory for the finding, it is reported without an asset.
  if (status) { (void)pks__verify_settle(v, status, NULL); }
}

static pks_status advance(void *context, uint64_t offset, pks_error *error) {
  pks__verification *v = context;
  (void)error;
  v->bytes_done = v->segment_begin + offset;
  return pks__verify_progress(v, false);
}

static pks_status check_open_segment(pks__verification *v, pks__segment *segment, const pks__run_segment_info *info) {
  pks__segment_checker *inspector = &v->inspector;
  if (segment->file_length != info->file_length) {
    uint64_t at = pks__min64(segment->file_length, info->file_length);
    pks__verify_report(v, "the segment's length differs from the index", segment->name, at);
    return PKS_OK;
  }
  bool sound;
  pks_status status = pks__check_segment_table(inspector, segment, &sound, &v->found);
  if (status || !sound) { return status; }
  if (segment->kind != info->kind) {
    uint64_t at = segment->table.body_offset;
    pks__verify_report(v, "the segment's kind differs from the index", segment->name, at);
    return PKS_OK;
  }
  v->states[v->segment] = PKS__SEGMENT_SOUND;
  v->inspected = segment;
  status = pks__check_frames(inspector, segment, &v->found);
  v->inspected = NULL;
  return status;
}

/// One finding represents all frames of a missing segment.
static pks_status note_gone(pks__verification *v, uint32_t number) {
  v->states[number] = PKS__SEGMENT_GONE;
  pks__frame_finding finding = {
    .segment = number, .offset = PKS_NO_OFFSET, .is_bad = true, .status = PKS_PURGED, .text = "is missing"};
  return pks__verify_note(v, &finding);
}

pks_status pks__verify_segment(pks__verification *v, uint32_t number) {
  const pks__run_segment_info *info = &pks__segment_list_at(&v->segments, number)->info;
  pks_store *store = v->snapshot->store;
  pks__segment *segment = NULL;
  v->segment = number;
  v->segment_begin = v->bytes_done;
  v->states[number] = PKS__SEGMENT_DAMAGED;
  v->inspector.fault = take_fault;
  v->inspector.advance = advance;
  pks_status status = pks__store_open_segment(store, &v->patient.vfs, &info->id, &segment, &v->found);
  if (status == PKS_PURGED) {
    status = note_gone(v, number);
  } else if (status) {
    status = pks__verify_settle(v, status, NULL);
  } else {
    v->totals.files_checked++;
    status = check_open_segment(v, segment, info);
  }
  pks__segment_close(segment);
  bool has_pages = info->kind == PKS__SEGMENT_METADATA;
  if (has_pages && v->states[number] == PKS__SEGMENT_DAMAGED) { v->pages_are_sound = false; }
  v->bytes_done = v->segment_begin + info->file_length;
  return status ? status : pks__verify_progress(v, true);
}

pks_status pks__verify_use_segment(pks__verification *v, uint32_t number, pks__segment **out) {
  *out = NULL;
  if (v->states[number] != PKS__SEGMENT_SOUND) { return PKS_OK; }
  const pks__listed_segment *listed = pks__segment_list_at(&v->segments, number);
  pks__segment *segment;
  pks_status status = pks__snapshot_segment(v->snapshot, listed->run, listed->index, &segment, &v->found);
  // Collected since it was checked. Whether anything misses it is seen later.
  if (status == PKS_PURGED) { return note_gone(v, number); }
  if (!status) { status = pks__segment_need_table(segment, &v->found); }
  if (!status) { *out = segment; }
  return pks__verify_settle(v, status, NULL);
}

// MARK: - Runs against segments

static pks_status check_frames_exist(pks__verification *v, uint32_t number) {
  pks__run *run = &v->runs[number];
  uint32_t hint = 0, last = PKS__NO_SEGMENT;
  pks__segment *segment = NULL;
  for (uint32_t i = 0; i < run->frame_count; i++) {
    pks__run_frame_info info;
    pks__frame frame;
    pks_status status = pks__run_frame_at(run, i, &info, &v->found);
    if (!status && info.segment != last) {
      last = info.segment;
      hint = 0;
      status = pks__verify_use_segment(v, v->segments.numbers[number][last], &segment);
    }
    if (!status && segment) { status = pks__segment_find_frame(segment, &info, &hint, &frame, &v->found); }
    status = pks__verify_settle(v, status, NULL);
    if (status) { return status; }
  }
  return PKS_OK;
}

static pks_status check_chunk_found(
  pks__verification *v, pks__run *run, pks__segment *segment, uint32_t row, uint32_t number
) {
  const pks__id *id;
  bool listed = false;
  pks_status status = pks__segment_chunk_id(segment, row, &id, &v->found);
  if (!status) { status = pks__run_lists_chunk(run, pks__id_prefix(id), number, &listed, &v->found); }
  if (status || listed) { return status; }
  return pks__fail(&v->found, PKS_CORRUPT, "the index does not find a stored chunk", run->table.name, PKS_NO_OFFSET);
}

/// Whether every chunk that the run lists is found by its id.
static pks_status check_chunks_found(pks__verification *v, uint32_t number) {
  pks__run *run = &v->runs[number];
  for (uint32_t i = 0; i < run->segment_count; i++) {
    pks__run_segment_info info;
    pks__segment *segment = NULL;
    pks_status status = pks__run_segment_at(run, i, &info, &v->found);
    if (!status && info.chunk_count > 0) {
      status = pks__verify_use_segment(v, v->segments.numbers[number][i], &segment);
    }
    status = pks__verify_settle(v, status, NULL);
    if (status) { return status; }
    if (!segment) { continue; }
    if (info.chunk_count != segment->chunk_count) {
      pks__verify_report(v, "the number of chunks differs between index and segment", segment->name, PKS_NO_OFFSET);
      continue;
    }
    for (uint32_t row = 0; !status && row < info.chunk_count; row++) {
      status = pks__verify_settle(v, check_chunk_found(v, run, segment, row, info.first_chunk + row), NULL);
    }
    if (status) { return status; }
  }
  return PKS_OK;
}

/// Runs that know the same segment must say the same about it.
static void check_listed_segments(pks__verification *v, uint32_t number) {
  pks__run *run = &v->runs[number];
  for (uint32_t i = 0; i < run->segment_count; i++) {
    pks__run_segment_info info;
    if (pks__run_segment_at(run, i, &info, &v->found)) { continue; }
    const pks__run_segment_info *listed = &pks__segment_list_at(&v->segments, v->segments.numbers[number][i])->info;
    uint64_t at = run->table.body_offset + run->segments.offset + i * sizeof(pks__run_segment);
    bool same = info.kind == listed->kind && info.file_length == listed->file_length;
    if (!same) { pks__verify_report(v, "index runs disagree about a segment", run->table.name, at); }
  }
}

pks_status pks__verify_run_against_segments(pks__verification *v, uint32_t number) {
  // A run that is damaged is not compared with anything.
  if (!v->runs[number].table.body) { return PKS_OK; }
  check_listed_segments(v, number);
  pks_status status = check_frames_exist(v, number);
  return status ? status : check_chunks_found(v, number);
}
