/// A folder as the source of an ingest: its files are read, chunked and hashed on all threads, and consumed in order.
#include "ingest/ingest_folder.h"

#include <errno.h>

#include "base/memory.h"
#include "ingest/dedup_pass.h"
#include "ingest/frame_grouping.h"
#include "ingest/read_batch.h"

static pks_status consume_chunks(
  pks__dedup_pass *pass, const pks__read_batch *block, uint32_t first, uint32_t count, pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint32_t i = first; !status && i < first + count; i++) {
    const pks__batch_chunk *chunk = &block->chunks[i];
    status = pks__dedup_pass_chunk(pass, &chunk->id, block->bytes + chunk->offset, chunk->length, error);
  }
  return status;
}

/// Checks the beginning of a file, before any of its bytes is stored.
static pks_status check_start(
  const pks__dedup_pass *pass, const pks__read_batch *block, const pks__item *item, uint32_t first, uint32_t count,
  pks_error *error
) {
  if (item->kind != PKS__RECORD_FILE || count == 0) { return PKS_OK; }
  const pks__batch_chunk *begin = &block->chunks[first], *last = &block->chunks[first + count - 1];
  size_t length = last->offset + last->length - begin->offset;
  const pks_add_request *request = &pass->ingest->request;
  return pks__folder_scan_check_start(block->source, item, request, block->bytes + begin->offset, length, error);
}

static pks_status consume_block(pks__dedup_pass *pass, const pks__read_batch *block, pks_error *error) {
  const pks__entry_list *listing = &pass->ingest->listing;
  pks_status status = PKS_OK;
  pks__frame_pipeline_lend(&pass->ingest->frames, block->bytes, block->byte_count);
  for (uint32_t i = 0, chunk = 0; !status && i < block->item_count; chunk += block->item_chunks[i++]) {
    const pks__item *item = pks__entry_list_at(listing, block->first_item + i);
    if (!block->is_stretch || block->begins_file) {
      status = check_start(pass, block, item, chunk, block->item_chunks[i], error);
      if (!status) { pks__dedup_pass_begin(pass, item); }
    }
    if (!status) { status = consume_chunks(pass, block, chunk, block->item_chunks[i], error); }
    bool ends = !block->is_stretch || block->ends_file;
    if (!status && ends) { status = pks__dedup_pass_end(pass, error); }
  }
  pass->ingest->bytes_done += block->source_byte_count;
  return status ? status : pks__dedup_pass_report(pass, error);
}

/// Blocks in a ring: filled ahead, hashed by any thread, consumed in order, and lent to the frames that are formed of them. Some
/// stay as they are for a while after they were consumed, so that filling one need not wait for its frames.
enum { LENT_BLOCKS = 2 };

typedef struct block_ring {
  pks__read_batch **blocks;
  uint32_t size, oldest, count;
} block_ring;

static pks_status make_ring(
  block_ring *ring, const pks__ingest *ingest, const pks__folder_scan *source, pks_error *error
) {
  ring->size = pks__pool_thread_count(ingest->pool) * 2 + 2 + LENT_BLOCKS;
  ring->blocks = pks__allocate_zeroed(ring->size, sizeof *ring->blocks);
  if (!ring->blocks) { return pks__fail_memory(error); }
  const pks_store *store = ingest->staging->store;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < ring->size; i++) {
    status =
      pks__read_batch_create(&ring->blocks[i], source, &ingest->chunker, store->sha256, store->sha256_many, error);
  }
  return status;
}

/// Takes all blocks back that are consumed. After a failure the frames that are formed of them are lost.
static pks_status take_back(block_ring *ring, pks__frame_pipeline *frames, pks_status status, pks_error *error) {
  for (uint32_t i = 0; !status && ring->blocks && i < ring->size; i++) {
    const pks__read_batch *block = ring->blocks[(ring->oldest + i) % ring->size];
    status = pks__frame_pipeline_take_back(frames, block->bytes, block->byte_count, error);
  }
  if (status) { pks__frame_pipeline_wait(frames); }
  return status;
}

static void free_ring(block_ring *ring, pks__pool *pool) {
  for (uint32_t i = 0; i < ring->count; i++) {
    pks__pool_finish(pool, &ring->blocks[(ring->oldest + i) % ring->size]->task);
  }
  for (uint32_t i = 0; ring->blocks && i < ring->size; i++) { pks__read_batch_destroy(ring->blocks[i]); }
  pks__free(ring->blocks);
}

/// Fills blocks while there is room. One block stays empty: the unchunked rest of a large file is in the block before.
static pks_status fill_ring(block_ring *ring, pks__batch_filler *filler, pks__ingest *ingest, pks_error *error) {
  while (ring->count < ring->size - 1 - LENT_BLOCKS) {
    pks__read_batch *block = ring->blocks[(ring->oldest + ring->count) % ring->size];
    bool filled = false;
    pks_status status = pks__frame_pipeline_take_back(&ingest->frames, block->bytes, block->byte_count, error);
    if (!status) { status = pks__read_batch_fill(filler, block, &filled, error); }
    if (status || !filled) { return status; }
    ring->count++;
    pks__pool_submit(ingest->pool, &block->task);
  }
  return PKS_OK;
}

static pks_status consume_source(pks__dedup_pass *pass, const pks__folder_scan *source, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  block_ring ring = {0};
  pks__batch_filler filler = {
    .source = source, .chunker = &ingest->chunker, .file = PKS_VFS_NO_FILE, .carry = (const uint8_t *)""};
  pks_status status = make_ring(&ring, ingest, source, error);
  if (!status) { status = fill_ring(&ring, &filler, ingest, error); }
  while (!status && ring.count > 0) {
    pks__read_batch *block = ring.blocks[ring.oldest];
    pks__pool_finish(ingest->pool, &block->task);
    ring.oldest = (ring.oldest + 1) % ring.size;
    ring.count--;
    status = block->status;
    if (status && error) { *error = block->error; }
    if (!status) { status = consume_block(pass, block, error); }
    if (!status) { status = fill_ring(&ring, &filler, ingest, error); }
  }
  pks__batch_filler_close(&filler);
  status = take_back(&ring, &ingest->frames, status, error);
  free_ring(&ring, ingest->pool);
  return status;
}

// MARK: - Reading again

/// Reads skipped chunks a second time; the file stays open between chunks.
typedef struct rereader {
  const pks__ingest *ingest;
  const pks__folder_scan *source;
  const pks__item *item;  ///< whose file is open
  pks_vfs_file file;
} rereader;

static void close_reread(rereader *rereader) {
  const pks_vfs *vfs = rereader->source->vfs;
  if (rereader->file != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, rereader->file); }
  rereader->file = PKS_VFS_NO_FILE;
}

static pks_status read_again(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  rereader *rereader = context;
  pks_status status = PKS_OK;
  if (rereader->file == PKS_VFS_NO_FILE || rereader->item != want->item) {
    close_reread(rereader);
    rereader->item = want->item;
    status = pks__folder_scan_open(rereader->source, want->item, &rereader->file, error);
  }
  if (!status) {
    status =
      pks__folder_scan_read(rereader->source, want->item, rereader->file, want->offset, out, want->length, error);
  }
  if (status) { return status; }
  pks__id id;
  rereader->ingest->staging->store->sha256(out, want->length, id.bytes);
  return pks__id_equal(&id, want->id) ? PKS_OK : pks__folder_scan_changed(rereader->source, want->item, error);
}

// MARK: - Samples

// Samples for the choice of forms come from the folder.

static pks_status walk_folder(
  void *context, pks_status (*visit)(void *visitor, const pks__sample_file *file, pks_error *error), void *visitor,
  pks_error *error
) {
  const pks__entry_list *listing = ((const pks__folder_scan *)context)->listing;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__entry_list_count(listing); i++) {
    const pks__item *item = pks__entry_list_at(listing, i);
    if (item->kind != PKS__RECORD_FILE || item->size == 0) { continue; }
    pks__sample_file file = {
      .path = pks__entry_list_path(listing, item),
      .path_length = item->path_length,
      .size = item->size,
      .is_mapped = item->mapped,
      .identity = item,
    };
    status = visit(visitor, &file, error);
  }
  return status;
}

static bool read_for_sample(void *context, const pks__sample_file *file, uint8_t *out) {
  const pks__folder_scan *source = context;
  const pks__item *item = file->identity;
  pks_vfs_file opened;
  if (pks__folder_scan_open(source, item, &opened, NULL)) { return false; }
  bool is_read = !pks__folder_scan_read(source, item, opened, 0, out, (size_t)item->size, NULL);
  pks__vfs_close(source->vfs, opened);
  return is_read;
}

static pks_status choose_forms(pks__ingest *ingest, const pks__folder_scan *source, pks_error *error) {
  pks__sample_source files = {.context = (void *)(uintptr_t)source, .walk = walk_folder, .read = read_for_sample};
  return pks__frame_grouping_run(ingest, &files, error);
}

// MARK: - Ingest

static pks_status scan(pks__ingest *ingest, pks__folder_scan *source, pks_error *error) {
  pks_store *store = ingest->staging->store;
  pks_vfs_info own = {0};
  int failure = pks__vfs_info_of(store->vfs, store->root, &own);
  if (failure) {
    return pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_FOLDER, ".", "cannot examine");
  }
  pks_status status =
    pks__folder_scan_scan(source, &ingest->listing, &ingest->staging->scratch, &ingest->request, &own, error);
  ingest->files_expected = ingest->listing.file_count;
  ingest->bytes_expected = ingest->listing.byte_count;
  return status;
}

/// Metadata for one version does not apply to the next.
static pks_status change_attributes(pks__ingest *ingest, pks_error *error) {
  const pks_add_request *request = &ingest->request;
  if (ingest->result.unchanged || !request->set_changed_attributes) { return PKS_OK; }
  return pks__ingest_set_attributes(ingest, request->changed_attributes, request->changed_attribute_byte_count, error);
}

static pks_status store_source(pks__ingest *ingest, const pks__folder_scan *source, pks_error *error) {
  rereader rereader = {.ingest = ingest, .source = source, .file = PKS_VFS_NO_FILE};
  pks__chunk_fetch fetch = {.context = &rereader, .fetch = read_again};
  pks__dedup_pass pass;
  pks_status status = pks__dedup_pass_open(&pass, ingest, &fetch, error);
  if (!status) { status = consume_source(&pass, source, error); }
  if (!status) { status = pks__dedup_pass_finish(&pass, error); }
  if (!status) { status = change_attributes(ingest, error); }
  pks__dedup_pass_close(&pass);
  close_reread(&rereader);
  return status;
}

/// Adds to an error what only the whole folder shows.
static pks_status explain(
  const pks__ingest *ingest, const pks__folder_scan *source, pks_status status, pks_error *error
) {
  if (!error) { return status; }
  const pks_add_request *request = &ingest->request;
  // One file without permission is seldom alone: all are reported at once.
  if (status == PKS_IO_ERROR && (error->system_error == EACCES || error->system_error == EPERM)) {
    pks__folder_scan_report_unreadable(source, request);
    const char *text = "contains files that cannot be read";
    return pks__fail_about(error, PKS_REFUSED, PKS_DETAIL_UNREADABLE_FILES, PKS_SUBJECT_FOLDER, request->folder, text);
  }
  // The rest of the source is certainly enough; the staged part ends with the transaction. With map assets, consumed files may have
  // to be written again.
  if (status == PKS_NO_SPACE) {
    error->needed += ingest->listing.byte_count - (ingest->listing.mapped_count > 0 ? 0 : ingest->bytes_done);
  }
  return status;
}

/// Sets the caller's attributes, or the pack's current ones.
static pks_status take_attributes(pks__ingest *ingest, pks_error *error) {
  const pks_add_request *request = &ingest->request;
  if (request->set_attributes) {
    return pks__ingest_set_attributes(ingest, request->attributes, request->attribute_byte_count, error);
  }
  const pks__version *current = pks__generation_current(&ingest->base->generation, ingest->request.pack);
  if (!current) { return PKS_OK; }
  return pks__ingest_load_attributes(ingest, pks__snapshot_pages(ingest->base), &current->attributes, error);
}

/// Reads the cached data of a purgeable pack that is added again: frames that are damaged at full length are stored again, too. It
/// is about as much as the folder, which is read as well.
static pks_status check_cached(const pks__ingest *ingest, pks_error *error) {
  bool has_cached = ingest->reuse_policy.purgeable && ingest->base_pack != UINT32_MAX;
  return has_cached ? pks_snapshot_check_cached(ingest->base, ingest->base_pack, 0, error) : PKS_OK;
}

pks_status pks__ingest_folder(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks_add_request *request, bool sync,
  pks_error *error
) {
  pks__folder_scan source = {0};
  pks_status status = pks__ingest_init(out, staging, base, request, error);
  if (!status) { status = check_cached(out, error); }
  if (!status) { status = take_attributes(out, error); }
  if (!status) { status = scan(out, &source, error); }
  if (!status) { status = pks__ingest_open_parts(out, NULL, sync, error); }
  if (!status) { out->frames.series.has_long_blocks = true; }
  // A sparse file may precede dense files in the order of paths: the pages of the dense files allow its rows.
  enum { ROW_FACTOR = 4 };
  out->rows = pks__row_budget_make(request->max_rows);
  out->row_factor = ROW_FACTOR;
  if (!status) { status = choose_forms(out, &source, error); }
  if (!status) { status = store_source(out, &source, error); }
  if (status && source.vfs) { status = explain(out, &source, status, error); }
  pks__folder_scan_close(&source);
  return status;
}
