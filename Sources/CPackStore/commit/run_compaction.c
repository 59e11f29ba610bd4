#include "commit/run_compaction.h"

#include <string.h>

#include "base/memory.h"
#include "index/run_writer.h"
#include "read/namespace.h"
#include "store/snapshot.h"

/// Fewer runs than this are left alone however long they are.
enum { RUNS_KEPT = 3 };

/// A run that goes into the new one.
typedef struct input {
  pks__run *run;
  uint32_t *segments;  ///< number in the new run by number in this one; UINT32_MAX: not there
  uint32_t *frames;    ///< the same of frames; while counting: 0 dead, 1 live
} input;

typedef struct joiner {
  pks_snapshot *snapshot;
  uint32_t first, count;
  input *inputs;
  pks__run_writer writer;
  pks__run_merge merge;
  uint32_t *packs;  ///< new run's pack by rank, UINT32_MAX: none
  uint32_t *pack_numbers;
  uint32_t pack_count;
  pks__scratch extents;
} joiner;

// MARK: - What to join

static uint64_t run_length(const pks_snapshot *snapshot, uint32_t index) {
  return snapshot->runs[index].open->run.table.file_length;
}

/// The first run to join; the number of runs when there is nothing to do.
static uint32_t choose_first(const pks_snapshot *snapshot) {
  uint32_t first = snapshot->run_count;
  if (first <= RUNS_KEPT) { return first; }
  uint64_t sum = 0;
  for (uint32_t at = snapshot->run_count; at > 0; at--) {
    if (at < snapshot->run_count && run_length(snapshot, at - 1) >= 2 * sum) { break; }
    sum += run_length(snapshot, at - 1);
    first = at - 1;
  }
  return snapshot->run_count - first > 1 ? first : snapshot->run_count;
}

// MARK: - Live records

/// A merged walk over the chosen runs alone: a snapshot of them that shares everything else.
static pks_status open_walk(joiner *joiner, pks_snapshot *part, pks_error *error) {
  *part = *joiner->snapshot;
  part->runs = joiner->snapshot->runs + joiner->first;
  part->run_count = joiner->count;
  pks_status status = pks__run_merge_open(&joiner->merge, part, error);
  if (!status) { joiner->merge.keeps_absent = joiner->first > 0; }
  return status ? status : pks__run_merge_seek(&joiner->merge, "", 0, error);
}

typedef pks_status visitor(joiner *joiner, const pks__hit *hit, pks_error *error);

static pks_status for_each_record(joiner *joiner, visitor *visit, pks_error *error) {
  pks_snapshot part;
  pks_status status = open_walk(joiner, &part, error);
  for (bool more = true; !status && more;) {
    status = pks__run_merge_next(&joiner->merge, &more, error);
    for (uint32_t i = 0; !status && more && i < joiner->merge.hit_count; i++) {
      status = visit(joiner, &joiner->merge.hits[i], error);
    }
  }
  pks__run_merge_close(&joiner->merge);
  return status;
}

/// The frames that extent `index` of a record runs through.
static pks_status extent_frames(
  const input *input, const pks__run_entry *entry, uint64_t index, uint32_t *first, uint32_t *last, pks_error *error
) {
  uint64_t begin = 0, end = entry->size;
  uint32_t skip = entry->skip;
  *first = entry->frame;
  if (entry->extents) {
    begin = index > 0 ? pks__get64(entry->extents[index - 1].end) : 0;
    end = pks__get64(entry->extents[index].end);
    *first = pks__get32(entry->extents[index].frame);
    skip = pks__get32(entry->extents[index].skip);
  }
  pks__run_frame_info frame;
  pks_status status = pks__run_frame_at(input->run, *first, &frame, error);
  if (status) { return status; }
  if (end <= begin) {
    return pks__fail(error, PKS_CORRUPT, "the extents do not cover the asset", input->run->table.name, PKS_NO_OFFSET);
  }
  return pks__run_frame_find(input->run, *first, frame.raw_start + skip + (end - begin) - 1, last, error);
}

static pks_status mark_frames(joiner *joiner, const pks__hit *hit, pks_error *error) {
  input *input = &joiner->inputs[hit->run];
  if (hit->entry.kind == PKS__RECORD_ABSENT) { return PKS_OK; }
  for (uint64_t i = 0; i < hit->entry.extent_count; i++) {
    uint32_t first, last;
    pks_status status = extent_frames(input, &hit->entry, i, &first, &last, error);
    if (status) { return status; }
    for (uint32_t frame = first; frame <= last; frame++) { input->frames[frame] = 1; }
  }
  return PKS_OK;
}

static pks_status copy_record(joiner *joiner, const pks__hit *hit, pks_error *error) {
  const input *input = &joiner->inputs[hit->run];
  const pks__run_entry *entry = &hit->entry;
  pks__run_item item = {
    .path = joiner->merge.path,
    .path_length = joiner->merge.path_length,
    .pack = (uint16_t)joiner->packs[hit->rank],
    .kind = entry->kind,
    .flags = (uint8_t)(entry->flags & ~(PKS__FLAG_ONE_EXTENT | PKS__FLAG_FOLLOWED)),
    .size = entry->size,
    .target = entry->target,
    .extent_count = entry->extent_count,
  };
  joiner->extents.length = 0;
  for (uint64_t i = 0; i < entry->extent_count; i++) {
    uint32_t frame = entry->extents ? pks__get32(entry->extents[i].frame) : entry->frame;
    pks__extent extent = {
      .frame = pks__put32(input->frames[frame]),
      .skip = entry->extents ? entry->extents[i].skip : pks__put32(entry->skip),
      .end = entry->extents ? entry->extents[i].end : pks__put64(entry->size),
    };
    pks_status status = pks__scratch_append(&joiner->extents, &extent, sizeof extent, error);
    if (status) { return status; }
  }
  item.extents = PKS__SCRATCH_AT(&joiner->extents, pks__extent, 0);
  return pks__run_writer_add(&joiner->writer, &item, error);
}

// MARK: - Segments, chunks and frames

/// Lists a run's own segments with their chunks. Chunks of a segment that is gone are forgotten.
static pks_status copy_segments(joiner *joiner, uint32_t index, uint32_t *next_chunk, pks_error *error) {
  input *input = &joiner->inputs[index];
  pks_status status = PKS_OK;
  for (uint32_t at = 0; !status && at < input->run->segment_count; at++) {
    pks__run_segment_info info;
    status = pks__run_segment_at(input->run, at, &info, error);
    if (status || info.chunk_count == 0) { continue; }
    pks__segment *segment;
    status = pks__snapshot_segment(joiner->snapshot, joiner->first + index, at, &segment, error);
    if (status == PKS_PURGED) {
      status = PKS_OK;
      continue;
    }
    if (!status) { status = pks__segment_need_table(segment, error); }
    if (!status && segment->chunk_count != info.chunk_count) {
      status = pks__fail(error, PKS_CORRUPT, "the index and a segment disagree", segment->name, PKS_NO_OFFSET);
    }
    if (!status) { status = pks__run_writer_add_segment(&joiner->writer, &info, &input->segments[at], error); }
    for (uint32_t row = 0; !status && row < segment->chunk_count; row++) {
      const pks__id *id;
      status = pks__segment_chunk_id(segment, row, &id, error);
      if (!status) { status = pks__run_writer_add_chunk(&joiner->writer, pks__id_prefix(id), (*next_chunk)++, error); }
    }
  }
  return status;
}

/// A segment that this run refers to and another lists: its number in the new run, by its id.
static pks_status refer_to_segment(joiner *joiner, input *input, uint32_t at, uint32_t *number, pks_error *error) {
  pks__run_segment_info info;
  pks_status status = pks__run_segment_at(input->run, at, &info, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&joiner->writer.segments, pks__run_segment); i++) {
    if (!pks__segment_id_equal(&PKS__SCRATCH_AT(&joiner->writer.segments, pks__run_segment, i)->id, &info.id)) {
      continue;
    }
    *number = (uint32_t)i;
    return PKS_OK;
  }
  info.chunk_count = 0;
  return status ? status : pks__run_writer_add_segment(&joiner->writer, &info, number, error);
}

/// Copies live frames in order, so that consecutive ones stay consecutive.
static pks_status copy_frames(joiner *joiner, input *input, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < input->run->frame_count; i++) {
    if (!input->frames[i]) { continue; }
    pks__run_frame_info frame;
    status = pks__run_frame_at(input->run, i, &frame, error);
    if (!status && input->segments[frame.segment] == UINT32_MAX) {
      status = refer_to_segment(joiner, input, frame.segment, &input->segments[frame.segment], error);
    }
    if (status) { break; }
    frame.segment = input->segments[frame.segment];
    status = pks__run_writer_add_frame(&joiner->writer, &frame, &input->frames[i], error);
  }
  return status;
}

// MARK: - Joining

static pks_status make_inputs(joiner *joiner, pks_error *error) {
  const pks__generation *generation = &joiner->snapshot->generation;
  joiner->inputs = pks__allocate_zeroed(joiner->count, sizeof *joiner->inputs);
  joiner->packs = pks__allocate((generation->pack_count + 1) * sizeof *joiner->packs);
  joiner->pack_numbers = pks__allocate((generation->pack_count + 1) * sizeof *joiner->pack_numbers);
  if (!joiner->inputs || !joiner->packs || !joiner->pack_numbers) { return pks__fail_memory(error); }
  memset(joiner->packs, 0xff, (generation->pack_count + 1) * sizeof *joiner->packs);
  for (uint32_t i = 0; i < joiner->count; i++) {
    const pks__snapshot_run *snapshot_run = &joiner->snapshot->runs[joiner->first + i];
    input *input = &joiner->inputs[i];
    input->run = &snapshot_run->open->run;
    input->segments = pks__allocate(((size_t)input->run->segment_count + 1) * sizeof *input->segments);
    input->frames = pks__allocate_zeroed((size_t)input->run->frame_count + 1, sizeof *input->frames);
    if (!input->segments || !input->frames) { return pks__fail_memory(error); }
    memset(input->segments, 0xff, ((size_t)input->run->segment_count + 1) * sizeof *input->segments);
    for (uint32_t pack = 0; pack < input->run->pack_count; pack++) {
      uint32_t rank = snapshot_run->ranks[pack];
      if (rank != UINT32_MAX) { joiner->packs[rank] = 0; }
    }
  }
  // Numbered by rank: so records of one path, which are walked by rank, come in order of their packs.
  for (uint32_t rank = 0; rank < generation->pack_count; rank++) {
    if (joiner->packs[rank] == UINT32_MAX) { continue; }
    joiner->packs[rank] = joiner->pack_count;
    joiner->pack_numbers[joiner->pack_count++] = generation->packs[rank].number;
  }
  return PKS_OK;
}

static void free_joiner(joiner *joiner) {
  for (uint32_t i = 0; joiner->inputs && i < joiner->count; i++) {
    pks__free(joiner->inputs[i].segments);
    pks__free(joiner->inputs[i].frames);
  }
  pks__free(joiner->inputs);
  pks__free(joiner->packs);
  pks__free(joiner->pack_numbers);
  pks__run_writer_free(&joiner->writer);
  pks__scratch_free(&joiner->extents);
}

static pks_status join(joiner *joiner, pks__staging *staging, pks_error *error) {
  pks_status status = make_inputs(joiner, error);
  if (status) { return status; }
  pks__run_writer_init(&joiner->writer, &staging->scratch, &joiner->snapshot->hasher, joiner->pack_count);
  pks__scratch_init(&joiner->extents, &staging->scratch);
  uint32_t next_chunk = 0;
  for (uint32_t i = 0; !status && i < joiner->count; i++) { status = copy_segments(joiner, i, &next_chunk, error); }
  if (!status) { status = for_each_record(joiner, mark_frames, error); }
  for (uint32_t i = 0; !status && i < joiner->count; i++) { status = copy_frames(joiner, &joiner->inputs[i], error); }
  return status ? status : for_each_record(joiner, copy_record, error);
}

static pks_status finish(joiner *joiner, pks__compacted_run *out, pks__staging *staging, bool sync, pks_error *error) {
  const pks_vfs *vfs = staging->store->vfs;
  pks__compacted_run merged = {
    .first_run = joiner->first, .run_count = joiner->count, .pack_count = joiner->pack_count};
  int failure = pks__vfs_random(vfs, &merged.name.name, sizeof merged.name.name);
  if (failure) { return pks__fail_system(error, failure, "cannot generate a name", NULL); }
  char path[PKS__INDEX_NAME];
  pks__run_path(merged.name.name, path);
  pks_status status = pks__run_writer_finish(
    &joiner->writer, strrchr(path, '/') + 1, sync, &merged.name.file_length, &merged.name.trailer_sum, error
  );
  if (status) { return status; }
  merged.pack_numbers = joiner->pack_numbers;
  joiner->pack_numbers = NULL;
  *out = merged;
  return PKS_OK;
}

pks_status pks__compact(
  pks__compacted_run *out, pks_snapshot *snapshot, pks__staging *staging, bool sync, pks_error *error
) {
  joiner joiner = {.snapshot = snapshot, .first = choose_first(snapshot)};
  joiner.count = snapshot->run_count - joiner.first;
  if (joiner.count == 0) { return PKS_OK; }
  pks_status status = join(&joiner, staging, error);
  if (!status) { status = finish(&joiner, out, staging, sync, error); }
  free_joiner(&joiner);
  // Each run has its names in place: together they would not, so they stay apart.
  return status == PKS_HOSTILE_NAMES ? PKS_OK : status;
}

void pks__compacted_run_free(pks__compacted_run *merged) {
  pks__free(merged->pack_numbers);
  *merged = (pks__compacted_run){0};
}
