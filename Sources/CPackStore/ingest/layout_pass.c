/// Second pass of an add: from spans of chunks to extents of frames, for the layout and for the index run.
#include "ingest/layout_pass.h"

#include <stdio.h>
#include <string.h>

#include "catalog/tree_writer.h"
#include "index/extent_walk.h"
#include "read/namespace.h"
#include "segment/segment_set.h"
#include "store/snapshot.h"

/// A stretch of an asset's bytes through consecutive frames of one segment.
typedef struct piece {
  uint32_t source;   ///< index in `old_segments`; PKS__SPAN_NEW: a segment of this add
  uint32_t segment;  ///< of this add
  uint32_t first_frame, last_frame;
  uint32_t skip;      ///< in the first frame
  uint32_t last_end;  ///< in the last frame
  bool last_is_full;  ///< `last_end` is the end of the last frame
  uint64_t length;
} piece;

typedef struct assembler {
  pks__ingest *ingest;
  pks__tree_writer layout;
  pks__rows layout_rows;
  pks__scratch value;
  pks__scratch pieces;   ///< pieces of the current asset
  pks__scratch extents;  ///< extents of the current asset, for the run
  pks__segment_set layout_segments;
  pks__scratch new_bases;    ///< uint32_t: number in the run of each new segment's first frame
  pks__hash_map old_frames;  ///< old segment << 32 | frame -> number in the run
  uint64_t removed_at;       ///< next removed path
} assembler;

// MARK: - Pieces

/// Finds one chunk, as a piece of its own.
static pks_status locate(
  pks__ingest *ingest, const pks__chunk_span *span, uint32_t index, piece *out, pks_error *error
) {
  *out = (piece){.source = span->source};
  uint32_t begin, end, frame_length;
  if (span->source == PKS__SPAN_NEW) {
    const pks__new_place *place = PKS__SCRATCH_AT(&ingest->frames.places, pks__new_place, span->first + index);
    out->segment = place->segment;
    out->first_frame = place->frame;
    begin = place->begin;
    end = begin + place->length;
    frame_length = pks__frame_pipeline_frame(&ingest->frames, place->segment, place->frame)->raw_length;
  } else {
    pks__segment *segment = PKS__SCRATCH_AT(&ingest->old_segments, pks__old_segment, span->source)->segment;
    pks__chunk_place place;
    pks__frame frame;
    pks_status status = pks__segment_chunk(segment, span->first + index, &place, error);
    if (!status) { status = pks__segment_frame(segment, place.frame, &frame, error); }
    if (status) { return status; }
    out->first_frame = place.frame;
    begin = place.begin;
    end = place.end;
    frame_length = frame.ref.raw_length;
  }
  out->last_frame = out->first_frame;
  out->skip = begin;
  out->last_end = end;
  out->last_is_full = end == frame_length;
  out->length = end - begin;
  return PKS_OK;
}

static bool continues(const piece *before, const piece *next) {
  if (before->source != next->source || before->segment != next->segment) { return false; }
  if (next->first_frame == before->last_frame) { return next->skip == before->last_end; }
  return next->first_frame == before->last_frame + 1 && before->last_is_full && next->skip == 0;
}

static pks_status add_piece(pks__scratch *pieces, const piece *next, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(pieces, piece);
  piece *last = count > 0 ? PKS__SCRATCH_AT(pieces, piece, count - 1) : NULL;
  if (!last || !continues(last, next)) { return pks__scratch_append(pieces, next, sizeof *next, error); }
  last->last_frame = next->last_frame;
  last->last_end = next->last_end;
  last->last_is_full = next->last_is_full;
  last->length += next->length;
  return PKS_OK;
}

static pks_status find_pieces(assembler *assembler, const pks__ingest_asset *asset, pks_error *error) {
  pks__ingest *ingest = assembler->ingest;
  assembler->pieces.length = 0;
  for (uint32_t i = 0; i < asset->span_count; i++) {
    const pks__chunk_span *span = PKS__SCRATCH_AT(&ingest->spans, const pks__chunk_span, asset->first_span + i);
    for (uint32_t at = 0; at < span->count; at++) {
      piece next;
      pks_status status = locate(ingest, span, at, &next, error);
      if (!status) { status = add_piece(&assembler->pieces, &next, error); }
      if (status) { return status; }
    }
  }
  return PKS_OK;
}

static const pks__segment_id *segment_id(const pks__ingest *ingest, const piece *piece) {
  if (piece->source == PKS__SPAN_NEW) { return &ingest->frames.series.sealed[piece->segment]->info.id; }
  return &PKS__SCRATCH_AT(&ingest->old_segments, const pks__old_segment, piece->source)->segment->id;
}

// MARK: - Layout

static pks_status add_layout_extent(assembler *assembler, const pks__layout_extent *extent, pks_error *error) {
  pks_status status = pks__ingest_add_row(assembler->ingest, PKS_PHASE_COMMIT, error);
  if (!status) { status = pks__rows_append(&assembler->layout_rows, extent, error); }
  return status ? status : pks__segment_set_add(&assembler->layout_segments, &extent->segment, error);
}

static pks_status add_layout_pieces(assembler *assembler, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&assembler->pieces, piece); i++) {
    const piece *piece = PKS__SCRATCH_AT(&assembler->pieces, struct piece, i);
    pks__layout_extent extent = {
      .segment = *segment_id(assembler->ingest, piece),
      .frame = pks__put32(piece->first_frame),
      .skip = pks__put32(piece->skip),
      .length = pks__put64(piece->length),
    };
    status = add_layout_extent(assembler, &extent, error);
  }
  return status;
}

/// Writes the entry whose extents were added.
static pks_status put_layout_entry(
  assembler *assembler, const char *path, size_t length, bool mapped, pks_error *error
) {
  pks_status status = pks__layout_entry_encode(&assembler->value, mapped, &assembler->layout_rows, error);
  if (status) { return status; }
  return pks__tree_writer_put(
    &assembler->layout, path, length, assembler->value.bytes, (size_t)assembler->value.length, error
  );
}

static pks_status write_layout_entry(
  assembler *assembler, const char *path, size_t length, bool mapped, pks_error *error
) {
  pks_status status = add_layout_pieces(assembler, error);
  return status ? status : put_layout_entry(assembler, path, length, mapped, error);
}

// MARK: - Records that stay

/// Lists the segments that the record of an unchanged asset refers to. It may refer to another copy of a chunk than the one found
/// now: two transactions staged at the same time may have stored the same chunk.
static pks_status list_record_segments(assembler *assembler, const pks__hit *hit, pks_error *error) {
  pks__run *run = &assembler->ingest->base->runs[hit->run].open->run;
  pks__extent_walk walk = pks__extent_walk_make(run, &hit->entry);
  uint32_t last = UINT32_MAX;
  for (bool more = true; more;) {
    pks__extent_part piece;
    pks__run_segment_info info;
    pks_status status = pks__extent_walk_next(&walk, &piece, &more, error);
    if (status) { return status; }
    if (!more || piece.frame.segment == last) { continue; }
    last = piece.frame.segment;
    status = pks__run_segment_at(run, last, &info, error);
    if (!status) { status = pks__segment_set_add(&assembler->layout_segments, &info.id, error); }
    if (status) { return status; }
  }
  return PKS_OK;
}

/// Returns the place of a map asset according to its record.
static pks_status record_extent(pks_snapshot *base, const pks__hit *hit, pks__layout_extent *out, pks_error *error) {
  pks__extent_walk walk = pks__extent_walk_make(&base->runs[hit->run].open->run, &hit->entry);
  pks__extent_part piece;
  pks__segment *segment;
  pks__frame frame;
  uint32_t index = 0;
  bool more;
  pks_status status = pks__extent_walk_next(&walk, &piece, &more, error);
  if (!status && !more) { status = pks__bad_extents(&walk, error); }
  if (!status) { status = pks__snapshot_segment(base, hit->run, piece.frame.segment, &segment, error); }
  if (!status) { status = pks__segment_need_table(segment, error); }
  if (!status) { status = pks__segment_find_frame(segment, &piece.frame, &index, &frame, error); }
  if (status) { return status; }
  *out = (pks__layout_extent){
    .segment = segment->id,
    .frame = pks__put32(index),
    .skip = pks__put32(piece.begin),
    .length = pks__put64(hit->entry.size),
  };
  return PKS_OK;
}

/// The layout's entry for an asset whose record stays. A map asset stays one without another request, so its layout entry repeats
/// the record, and not another place of its chunks. (An unreadable segment is ignored.)
static pks_status keep_asset(assembler *assembler, const char *path, size_t length, pks_error *error) {
  pks__ingest *ingest = assembler->ingest;
  pks__hit hit;
  bool found;
  pks_status status = pks__namespace_find(ingest->base, path, length, ingest->base_pack, &hit, &found, error);
  if (status) { return status; }
  if (!found) { return write_layout_entry(assembler, path, length, false, error); }
  pks__layout_extent extent;
  bool mapped = hit.entry.flags & PKS__FLAG_MAPPED;
  if (mapped) {
    status = record_extent(ingest->base, &hit, &extent, error);
    mapped = !status;
    if (status == PKS_CORRUPT || status == PKS_PURGED) { status = PKS_OK; }
  }
  if (!status) { status = mapped ? add_layout_extent(assembler, &extent, error) : add_layout_pieces(assembler, error); }
  if (!status) { status = put_layout_entry(assembler, path, length, mapped, error); }
  return status ? status : list_record_segments(assembler, &hit, error);
}

// MARK: - Run

/// Registers the add's own data segments and all their frames with the run.
static pks_status add_new_frames(assembler *assembler, pks_error *error) {
  pks__ingest *ingest = assembler->ingest;
  pks__segment_series *series = &ingest->frames.series;
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    uint32_t number, unused, base = (uint32_t)PKS__SCRATCH_COUNT(&ingest->run.frames, pks__run_frame);
    pks_status status = pks__run_writer_add_segment(&ingest->run, &series->sealed[i]->info, &number, error);
    if (!status) { status = pks__scratch_append(&assembler->new_bases, &base, sizeof base, error); }
    uint32_t frame_count = pks__frame_pipeline_frame_count(&ingest->frames, i);
    for (uint32_t frame = 0; !status && frame < frame_count; frame++) {
      pks__run_frame_info info = {.ref = *pks__frame_pipeline_frame(&ingest->frames, i, frame), .segment = number};
      status = pks__run_writer_add_frame(&ingest->run, &info, &unused, error);
    }
    if (status) { return status; }
  }
  return PKS_OK;
}

/// The number in the run of a segment that the store had.
static pks_status old_run_segment(pks__ingest *ingest, uint32_t source, uint32_t *number, pks_error *error) {
  pks__old_segment *old = PKS__SCRATCH_AT(&ingest->old_segments, pks__old_segment, source);
  pks_status status = PKS_OK;
  if (old->run_segment == UINT32_MAX) {
    pks__run_segment_info info = {
      .id = old->segment->id, .kind = PKS__SEGMENT_DATA, .file_length = old->segment->file_length};
    old->is_listed = old->segment->is_base && !pks__snapshot_lists(ingest->base, &info.id);
    old->first_chunk = ingest->run.listed_chunks;
    info.chunk_count = old->is_listed ? old->segment->chunk_count : 0;
    if (info.chunk_count > UINT32_MAX - old->first_chunk) {
      const char *text = "too many chunks for one index run";
      return pks__fail_about(
        error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, ingest->request.pack, text
      );
    }
    status = pks__run_writer_add_segment(&ingest->run, &info, &old->run_segment, error);
  }
  *number = old->run_segment;
  return status;
}

static bool find_frame(const assembler *assembler, const piece *piece, uint32_t frame, uint32_t *number) {
  uint64_t probe = 0;
  return pks__hash_map_next(&assembler->old_frames, (uint64_t)piece->source << 32 | frame, &probe, number);
}

static bool frames_are_known(const assembler *assembler, const piece *piece, uint32_t *first) {
  for (uint32_t frame = piece->first_frame; frame <= piece->last_frame; frame++) {
    uint32_t number;
    if (!find_frame(assembler, piece, frame, &number)) { return false; }
    if (frame == piece->first_frame) { *first = number; }
    if (number != *first + (frame - piece->first_frame)) { return false; }
  }
  return true;
}

/// Numbers in the run for the frames of a piece that the store had: consecutive, so some frame may be listed twice.
static pks_status add_old_frames(assembler *assembler, const piece *piece, uint32_t *first, pks_error *error) {
  if (frames_are_known(assembler, piece, first)) { return PKS_OK; }
  pks__ingest *ingest = assembler->ingest;
  uint32_t segment_number;
  pks_status status = old_run_segment(ingest, piece->source, &segment_number, error);
  pks__segment *segment = PKS__SCRATCH_AT(&ingest->old_segments, pks__old_segment, piece->source)->segment;
  for (uint32_t index = piece->first_frame; !status && index <= piece->last_frame; index++) {
    pks__frame frame;
    uint32_t number;
    status = pks__segment_frame(segment, index, &frame, error);
    if (status) { break; }
    pks__run_frame_info info = {.ref = frame.ref, .segment = segment_number};
    status = pks__run_writer_add_frame(&ingest->run, &info, &number, error);
    if (index == piece->first_frame) { *first = number; }
    uint32_t known;
    if (!status && !find_frame(assembler, piece, index, &known)) {
      status = pks__hash_map_insert(&assembler->old_frames, (uint64_t)piece->source << 32 | index, number, error);
    }
  }
  return status;
}

static pks_status find_extents(assembler *assembler, pks_error *error) {
  uint64_t end = 0;
  assembler->extents.length = 0;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&assembler->pieces, piece); i++) {
    const piece *piece = PKS__SCRATCH_AT(&assembler->pieces, struct piece, i);
    uint32_t frame = 0;
    pks_status status = PKS_OK;
    if (piece->source == PKS__SPAN_NEW) {
      frame = *PKS__SCRATCH_AT(&assembler->new_bases, uint32_t, piece->segment) + piece->first_frame;
    } else {
      status = add_old_frames(assembler, piece, &frame, error);
    }
    end += piece->length;
    pks__extent extent = {.frame = pks__put32(frame), .skip = pks__put32(piece->skip), .end = pks__put64(end)};
    if (!status) { status = pks__scratch_append(&assembler->extents, &extent, sizeof extent, error); }
    if (status) { return status; }
  }
  return PKS_OK;
}

/// Whether the asset is one extent of raw frames that abut. `*begin` is where in the segment file.
static bool is_contiguous(const assembler *assembler, uint64_t *begin) {
  if (PKS__SCRATCH_COUNT(&assembler->pieces, piece) != 1) { return false; }
  const piece *piece = PKS__SCRATCH_AT(&assembler->pieces, struct piece, 0);
  const pks__extent *extent = PKS__SCRATCH_AT(&assembler->extents, pks__extent, 0);
  const pks__run_frame *frames =
    PKS__SCRATCH_AT(&assembler->ingest->run.frames, pks__run_frame, pks__get32(extent->frame));
  uint64_t expected = pks__place_offset(pks__get64(frames[0].place));
  *begin = expected + pks__get32(extent->skip);
  for (uint32_t i = 0; i <= piece->last_frame - piece->first_frame; i++) {
    uint64_t place = pks__get64(frames[i].place);
    if (pks__place_codec(place) != PKS__CODEC_RAW || pks__place_offset(place) != expected) { return false; }
    expected += pks__get32(frames[i].stored_length);
  }
  return true;
}

static pks_status add_record(
  assembler *assembler, const pks__item *source, const pks__ingest_asset *asset, pks_error *error
) {
  pks__ingest *ingest = assembler->ingest;
  pks__run_item item = {
    .path = pks__entry_list_path(&ingest->listing, source),
    .path_length = source->path_length,
    .kind = (pks__record_kind)source->kind,
    .flags = source->executable ? PKS__FLAG_EXECUTABLE : 0,
    .size = source->size,
  };
  if (item.kind == PKS__RECORD_LINK) { item.target = pks__entry_list_target(&ingest->listing, source); }
  pks_status status = find_extents(assembler, error);
  if (status) { return status; }
  item.extents = PKS__SCRATCH_AT(&assembler->extents, pks__extent, 0);
  item.extent_count = PKS__SCRATCH_COUNT(&assembler->extents, pks__extent);
  uint64_t begin = 0;
  if (is_contiguous(assembler, &begin)) { item.flags |= PKS__FLAG_CONTIGUOUS; }
  if (asset->mapped) {
    PKS_ASSERT((item.flags & PKS__FLAG_CONTIGUOUS) && begin % PKS__PAGE == 0);
    item.flags |= PKS__FLAG_MAPPED;
  }
  return pks__run_writer_add(&ingest->run, &item, error);
}

/// Adds records that say "absent" for removed paths before `path`, or for all that are left.
static pks_status add_removed(assembler *assembler, const char *path, size_t length, pks_error *error) {
  pks__scratch *removed = &assembler->ingest->removed;
  while (assembler->removed_at < removed->length) {
    pks_le16 stored;
    memcpy(&stored, removed->bytes + assembler->removed_at, sizeof stored);
    size_t removed_length = pks__get16(stored);
    const char *removed_path = (const char *)removed->bytes + assembler->removed_at + sizeof stored;
    if (path && pks__compare_bytes(removed_path, removed_length, path, length) >= 0) { return PKS_OK; }
    pks__run_item item = {.path = removed_path, .path_length = removed_length, .kind = PKS__RECORD_ABSENT};
    pks_status status = pks__run_writer_add(&assembler->ingest->run, &item, error);
    if (status) { return status; }
    assembler->removed_at += sizeof stored + removed_length;
  }
  return PKS_OK;
}

// MARK: - Second pass

static pks_status assemble_asset(
  assembler *assembler, const pks__item *item, const pks__ingest_asset *asset, pks_error *error
) {
  const char *path = pks__entry_list_path(&assembler->ingest->listing, item);
  size_t length = item->path_length;
  bool stays = !asset->changed && !asset->relaid;
  if (stays && asset->span_count == 0) { return PKS_OK; }
  pks_status status = find_pieces(assembler, asset, error);
  if (status) { return status; }
  if (stays) { return keep_asset(assembler, path, length, error); }
  if (asset->span_count > 0) { status = write_layout_entry(assembler, path, length, asset->mapped, error); }
  if (assembler->ingest->is_kept) { return status; }
  if (!status) { status = add_removed(assembler, path, length, error); }
  return status ? status : add_record(assembler, item, asset, error);
}

static pks_status assemble_assets(assembler *assembler, pks_error *error) {
  pks__ingest *ingest = assembler->ingest;
  for (uint64_t i = 0; i < pks__entry_list_count(&ingest->listing); i++) {
    const pks__ingest_asset *asset = PKS__SCRATCH_AT(&ingest->assets, const pks__ingest_asset, i);
    pks_status status = assemble_asset(assembler, pks__entry_list_at(&ingest->listing, i), asset, error);
    if (status) { return status; }
  }
  return add_removed(assembler, NULL, 0, error);
}

static pks_status put_attributes(pks__ingest *ingest, pks__id *id, pks_error *error) {
  const pks__scratch *attributes = &ingest->attributes;
  if (attributes->length == 0) { return PKS_OK; }
  pks__page_sink pages = pks__page_writer_sink(&ingest->pages);
  return pages.put(pages.context, attributes->bytes, (size_t)attributes->length, id, error);
}

static pks_status finish_layout(assembler *assembler, uint64_t number, pks_error *error) {
  pks__ingest *ingest = assembler->ingest;
  pks__layout_root root = {.catalog = ingest->catalog_id, .number = number};
  (void)snprintf(root.pack, sizeof root.pack, "%s", ingest->request.pack);
  pks_status status = pks__tree_writer_finish(&assembler->layout, &root.map, error);
  if (!status) { status = put_attributes(ingest, &root.attributes, error); }
  pks__segment_set *segments = &assembler->layout_segments;
  for (uint32_t i = 0; !status && i < pks__segment_set_count(&ingest->pages.reused); i++) {
    status = pks__segment_set_add(segments, pks__segment_set_at(&ingest->pages.reused, i), error);
  }
  for (uint32_t i = 0; !status && i < ingest->pages.series.sealed_count; i++) {
    status = pks__segment_set_add(segments, &ingest->pages.series.sealed[i]->info.id, error);
  }
  if (status) { return status; }
  return pks__layout_put_root(
    pks__page_writer_sink(&ingest->pages), &root, pks__segment_set_at(segments, 0), pks__segment_set_count(segments),
    &ingest->layout_id, error
  );
}

/// Lists the chunks of consecutively registered segments; the first chunk has the number `first`.
static pks_status list_chunks(pks__ingest *ingest, const pks__scratch *ids, uint32_t first, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(ids, pks__id); i++) {
    const pks__id *id = PKS__SCRATCH_AT(ids, const pks__id, i);
    status = pks__run_writer_add_chunk(&ingest->run, pks__id_prefix(id), first + (uint32_t)i, error);
  }
  return status;
}

/// Lists the chunks of the base's segments that are referred to for the first time, so that they are known without the base.
static pks_status list_base_chunks(pks__ingest *ingest, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < PKS__SCRATCH_COUNT(&ingest->old_segments, pks__old_segment); i++) {
    const pks__old_segment *old = PKS__SCRATCH_AT(&ingest->old_segments, const pks__old_segment, i);
    uint32_t number;
    if (old->segment->is_base) { status = old_run_segment(ingest, i, &number, error); }
    for (uint32_t row = 0; !status && old->is_listed && row < old->segment->chunk_count; row++) {
      const pks__id *id;
      status = pks__segment_chunk_id(old->segment, row, &id, error);
      if (!status) {
        status = pks__run_writer_add_chunk(&ingest->run, pks__id_prefix(id), old->first_chunk + row, error);
      }
    }
  }
  return status;
}

static pks_status finish_run(assembler *assembler, bool sync, pks_error *error) {
  pks__ingest *ingest = assembler->ingest;
  const pks_vfs *vfs = ingest->staging->store->vfs;
  pks_status status = pks__segment_series_finish(&ingest->pages.series, error);
  pks__segment_series *series = &ingest->pages.series;
  uint32_t first_page = ingest->run.listed_chunks;
  for (uint32_t i = 0; !status && i < series->sealed_count; i++) {
    uint32_t number;
    status = pks__run_writer_add_segment(&ingest->run, &series->sealed[i]->info, &number, error);
  }
  if (!status) { status = list_chunks(ingest, &ingest->new_ids, 0, error); }
  if (!status) { status = list_chunks(ingest, &ingest->pages.ids, first_page, error); }
  if (!status) { status = list_base_chunks(ingest, error); }
  if (status) { return status; }
  int failure = pks__vfs_random(vfs, &ingest->run_name.name, sizeof ingest->run_name.name);
  if (failure) { return pks__fail_system(error, failure, "cannot generate a name", NULL); }
  char path[PKS__INDEX_NAME];
  pks__run_path(ingest->run_name.name, path);
  status = pks__run_writer_finish(
    &ingest->run, strrchr(path, '/') + 1, sync, &ingest->run_name.file_length, &ingest->run_name.trailer_sum, error
  );
  if (status != PKS_HOSTILE_NAMES) { return status; }
  const char *text = "paths were chosen to collide in the index";
  return pks__fail_about(error, status, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, ingest->request.pack, text);
}

static void init(assembler *assembler, pks__ingest *ingest) {
  pks__scratch_folder *home = &ingest->staging->scratch;
  *assembler = (struct assembler){.ingest = ingest};
  pks__page_sink sink = pks__page_writer_sink(&ingest->pages);
  pks__tree_writer_init(&assembler->layout, sink, PKS__TREE_MAP, 0);
  pks__rows_init(&assembler->layout_rows, sink, sizeof(pks__layout_extent));
  pks__scratch *all[] = {&assembler->value, &assembler->pieces, &assembler->extents, &assembler->new_bases};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  pks__segment_set_init(&assembler->layout_segments, home);
  pks__hash_map_init(&assembler->old_frames, home);
}

static void release(assembler *assembler) {
  pks__tree_writer_free(&assembler->layout);
  pks__rows_free(&assembler->layout_rows);
  pks__scratch *all[] = {&assembler->value, &assembler->pieces, &assembler->extents, &assembler->new_bases};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  pks__segment_set_free(&assembler->layout_segments);
  pks__hash_map_free(&assembler->old_frames);
}

pks_status pks__ingest_lay_out(pks__ingest *ingest, uint64_t number, bool sync, pks_error *error) {
  assembler assembler;
  init(&assembler, ingest);
  pks__run_writer_init(&ingest->run, &ingest->staging->scratch, &ingest->base->hasher, 1);
  pks_status status = add_new_frames(&assembler, error);
  if (!status) { status = assemble_assets(&assembler, error); }
  if (!status) { status = finish_layout(&assembler, number, error); }
  if (!status) { status = pks__ingest_check_rows(ingest, error); }
  if (!status) { status = finish_run(&assembler, sync, error); }
  ingest->result.new_stored_bytes = ingest->frames.series.stored_bytes + ingest->pages.series.stored_bytes;
  release(&assembler);
  return status;
}
