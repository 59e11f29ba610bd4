#include "ingest/read_batch.h"

#include <string.h>

#include "base/memory.h"

// MARK: - Making

pks_status pks__read_batch_create(
  pks__read_batch **out, const pks__folder_scan *source, const pks__chunker *chunker, pks_sha256 *sha256,
  pks_sha256_many *sha256_many, pks_error *error
) {
  pks__read_batch *block = pks__allocate_zeroed(1, sizeof *block);
  if (!block) { return pks__fail_memory(error); }
  // A batch may be one file short of full, and a stretch begins with an uncut rest of less than a maximal chunk.
  size_t room = PKS__BLOCK_SIZE + pks__max64(PKS__BATCH_FILE_MAX, chunker->maximum) + 1;
  block->source = source;
  block->chunker = chunker;
  block->sha256 = sha256;
  block->sha256_many = sha256_many;
  block->bytes = pks__allocate(room);
  block->item_chunks = pks__allocate(PKS__BATCH_ITEMS_MAX * sizeof *block->item_chunks);
  block->chunk_capacity = (uint32_t)(room / chunker->minimum) + PKS__BATCH_ITEMS_MAX + 1;
  block->chunks = pks__allocate(block->chunk_capacity * sizeof *block->chunks);
  if (!block->bytes || !block->item_chunks || !block->chunks) {
    pks__read_batch_destroy(block);
    return pks__fail_memory(error);
  }
  *out = block;
  return PKS_OK;
}

void pks__read_batch_destroy(pks__read_batch *block) {
  if (!block) { return; }
  pks__free(block->bytes);
  pks__free(block->item_chunks);
  pks__free(block->chunks);
  pks__free(block);
}

// MARK: - Cutting and hashing

static void add_chunk(pks__read_batch *block, uint32_t offset, uint32_t length) {
  PKS_ASSERT(block->chunk_count < block->chunk_capacity);
  block->chunks[block->chunk_count++] = (pks__batch_chunk){.offset = offset, .length = length};
}

/// Chunks bytes [offset, end) of the block, where `end` is the end of the file if `at_end`. Returns the beginning of the unchunked
/// rest.
static uint32_t cut(pks__read_batch *block, uint32_t offset, uint32_t end, bool at_end) {
  while (offset < end && (at_end || end - offset >= block->chunker->maximum)) {
    uint32_t length = (uint32_t)pks__chunker_cut(block->chunker, block->bytes + offset, end - offset);
    add_chunk(block, offset, length);
    offset += length;
  }
  return offset;
}

/// Runs of one byte are common in sparse files; equal neighbours are hashed once.
static bool repeats(const pks__read_batch *block, uint32_t index) {
  const pks__batch_chunk *chunk = &block->chunks[index], *before = chunk - 1;
  return index > 0 && chunk->length == before->length
    && memcmp(block->bytes + chunk->offset, block->bytes + before->offset, chunk->length) == 0;
}

static void hash_chunks(pks__read_batch *block) {
  pks__hash_batch batch;
  pks__hash_batch_begin(&batch, block->sha256, block->sha256_many);
  for (uint32_t i = 0; i < block->chunk_count; i++) {
    pks__batch_chunk *chunk = &block->chunks[i];
    chunk->repeats = block->is_run ? i > 0 : repeats(block, i);
    if (!chunk->repeats) { pks__hash_batch_add(&batch, block->bytes + chunk->offset, chunk->length, chunk->id.bytes); }
  }
  pks__hash_batch_flush(&batch);
  for (uint32_t i = 1; i < block->chunk_count; i++) {
    if (block->chunks[i].repeats) { block->chunks[i].id = block->chunks[i - 1].id; }
  }
}

// MARK: - Batches

/// Finds out why a file has another length than its size: reads it once more, between two looks at its time.
static pks_status read_again(pks__read_batch *block, const pks__item *item, pks_vfs_file file, pks_error *error) {
  const pks__folder_scan *source = block->source;
  pks_vfs_info info;
  size_t got = 0;
  int failure = pks__vfs_info_of(source->vfs, file, &info);
  if (!failure) {
    failure = pks__vfs_read_at(source->vfs, file, 0, block->bytes + block->byte_count, (size_t)item->size + 1, &got);
  }
  if (failure) { return pks__folder_scan_failed(source, item, failure, error); }
  if (got == item->size) { return pks__folder_scan_changed(source, item, error); }
  return pks__folder_scan_wrong_size(source, item, file, info.modified_ns, error);
}

/// Reads one small file after the block's contents. Requests one byte more than expected, to detect growth.
static pks_status read_small(pks__read_batch *block, const pks__item *item, pks_error *error) {
  const pks__folder_scan *source = block->source;
  pks_vfs_file file = PKS_VFS_NO_FILE;
  pks_status status = pks__folder_scan_open(source, item, &file, error);
  if (status) { return status; }
  size_t got = 0;
  int failure = pks__vfs_read_at(source->vfs, file, 0, block->bytes + block->byte_count, (size_t)item->size + 1, &got);
  if (failure) {
    status = pks__folder_scan_failed(source, item, failure, error);
  } else if (got != item->size) {
    status = read_again(block, item, file, error);
  }
  pks__vfs_close(source->vfs, file);
  return status;
}

static void run_batch(pks__task *task, uint32_t worker) {
  (void)worker;
  pks__read_batch *block = (pks__read_batch *)(void *)task;
  for (uint32_t i = 0; i < block->item_count; i++) {
    const pks__item *item = pks__entry_list_at(block->source->listing, block->first_item + i);
    uint32_t before = block->chunk_count;
    if (item->kind == PKS__RECORD_FILE) {
      block->status = read_small(block, item, &block->error);
      if (block->status) { return; }
      cut(block, block->byte_count, block->byte_count + (uint32_t)item->size, true);
      block->byte_count += (uint32_t)item->size;
    }
    block->item_chunks[i] = block->chunk_count - before;
  }
  block->source_byte_count = block->byte_count;
  hash_chunks(block);
}

static bool fits_batch(const pks__item *item) {
  return item->kind != PKS__RECORD_FILE || item->size <= PKS__BATCH_FILE_MAX;
}

static void fill_batch(pks__batch_filler *filler, pks__read_batch *block) {
  uint64_t planned = 0;
  block->first_item = filler->next_item;
  while (filler->next_item < pks__entry_list_count(filler->source->listing) && block->item_count < PKS__BATCH_ITEMS_MAX
         && planned < PKS__BLOCK_SIZE) {
    const pks__item *item = pks__entry_list_at(filler->source->listing, filler->next_item);
    if (!fits_batch(item)) { break; }
    if (item->kind == PKS__RECORD_FILE) { planned += item->size; }
    filler->next_item++;
    block->item_count++;
  }
  block->task.run = run_batch;
}

// MARK: - Stretches

static void run_stretch(pks__task *task, uint32_t worker) {
  (void)worker;
  hash_chunks((pks__read_batch *)(void *)task);
}

static pks_status open_large(pks__batch_filler *filler, const pks__item *item, pks_error *error) {
  const pks__folder_scan *source = filler->source;
  pks_status status = pks__folder_scan_open(source, item, &filler->file, error);
  if (status) { return status; }
  pks_vfs_info info;
  int failure = pks__vfs_info_of(source->vfs, filler->file, &info);
  if (failure) { return pks__folder_scan_failed(source, item, failure, error); }
  filler->offset = 0;
  filler->carry_length = 0;
  filler->modified_ns = info.modified_ns;
  filler->holes = pks__file_holes_make(source->vfs, filler->file, item->size);
  pks__vfs_advise(source->vfs, filler->file, 0, item->size, true);
  return info.size == item->size ? PKS_OK : pks__folder_scan_changed(source, item, error);
}

/// Checks after the last byte whether the file is still the opened one.
static pks_status close_large(pks__batch_filler *filler, const pks__item *item, pks_error *error) {
  const pks__folder_scan *source = filler->source;
  pks_vfs_info info;
  int failure = pks__vfs_info_of(source->vfs, filler->file, &info);
  pks__batch_filler_close(filler);
  if (failure) { return pks__folder_scan_failed(source, item, failure, error); }
  return info.size == item->size && info.modified_ns == filler->modified_ns
    ? PKS_OK
    : pks__folder_scan_changed(source, item, error);
}

/// Makes the block a run if the next chunk begins in a hole that goes on for a longest chunk.
static bool fill_run(pks__batch_filler *filler, pks__read_batch *block) {
  const pks__chunker *chunker = filler->chunker;
  uint64_t position = filler->offset - filler->carry_length, end = pks__file_holes_end(&filler->holes, position);
  if (end - position < chunker->maximum) { return false; }
  memset(block->bytes, 0, chunker->maximum);
  uint32_t length = (uint32_t)pks__chunker_cut(chunker, block->bytes, chunker->maximum);
  // The cut of a chunk that begins this far before the end of the hole depends on zeros alone.
  uint64_t count = (end - position - chunker->maximum) / length + 1;
  count = pks__min64(count, block->chunk_capacity);
  for (uint64_t i = 0; i < count; i++) { add_chunk(block, 0, length); }
  filler->offset = position + count * length;
  filler->carry_length = 0;
  block->item_chunks[0] = block->chunk_count;
  block->is_run = true;
  block->byte_count = length;
  block->source_byte_count = count * length;
  return true;
}

/// How many bytes to read next: up to where a long hole has begun for sure, so that a run can follow.
static size_t next_length(pks__batch_filler *filler, const pks__item *item) {
  uint32_t longest = filler->chunker->maximum;
  uint64_t limit = filler->offset + pks__min64(PKS__BLOCK_SIZE, item->size - filler->offset);
  uint64_t position = filler->offset - filler->carry_length;
  uint64_t hole = pks__file_holes_next(&filler->holes, position, limit, UINT64_C(2) * longest);
  return (size_t)(pks__min64(limit, hole + longest) - filler->offset);
}

static pks_status fill_stretch(pks__batch_filler *filler, pks__read_batch *block, pks_error *error) {
  const pks__folder_scan *source = filler->source;
  const pks__item *item = pks__entry_list_at(source->listing, filler->next_item);
  block->begins_file = filler->file == PKS_VFS_NO_FILE;
  pks_status status = block->begins_file ? open_large(filler, item, error) : PKS_OK;
  if (status) { return status; }
  block->first_item = filler->next_item;
  block->item_count = 1;
  block->is_stretch = true;
  block->task.run = run_stretch;
  if (fill_run(filler, block)) { return PKS_OK; }
  memcpy(block->bytes, filler->carry, filler->carry_length);
  size_t wanted = next_length(filler, item);
  status = pks__folder_scan_read_data(
    source, item, &filler->holes, filler->offset, block->bytes + filler->carry_length, wanted, error
  );
  if (status == PKS_SOURCE_CHANGED) {
    status = pks__folder_scan_wrong_size(source, item, filler->file, filler->modified_ns, error);
  }
  if (status) { return status; }
  filler->offset += wanted;
  uint32_t end = filler->carry_length + (uint32_t)wanted;
  block->ends_file = filler->offset == item->size;
  uint32_t rest = cut(block, 0, end, block->ends_file);
  filler->carry = block->bytes + rest;
  filler->carry_length = end - rest;
  block->item_chunks[0] = block->chunk_count;
  block->byte_count = rest;
  block->source_byte_count = rest;
  if (!block->ends_file) { return PKS_OK; }
  filler->next_item++;
  return close_large(filler, item, error);
}

// MARK: - Filling

pks_status pks__read_batch_fill(pks__batch_filler *filler, pks__read_batch *block, bool *filled, pks_error *error) {
  block->item_count = block->chunk_count = block->byte_count = 0;
  block->is_stretch = block->begins_file = block->ends_file = block->is_run = false;
  block->source_byte_count = 0;
  block->status = PKS_OK;
  *filled = filler->next_item < pks__entry_list_count(filler->source->listing);
  if (!*filled) { return PKS_OK; }
  if (!fits_batch(pks__entry_list_at(filler->source->listing, filler->next_item))) {
    return fill_stretch(filler, block, error);
  }
  fill_batch(filler, block);
  return PKS_OK;
}

void pks__batch_filler_close(pks__batch_filler *filler) {
  if (filler->file != PKS_VFS_NO_FILE) { pks__vfs_close(filler->source->vfs, filler->file); }
  filler->file = PKS_VFS_NO_FILE;
}
