/// Computes two sizes: the download of a version for an empty store, without the manifest and the frame tables; and the frames that
/// a device with another version fetches. For the second, the chunks of that version are marked first, as if they belonged to
/// earlier assets.
///
/// It equals the requests of a `pks_delivery` into an empty store. A chunk may be in several frames: map assets are stored as a
/// whole even if the store has their content elsewhere. A client fetches it from the place of the first asset, in the order of
/// paths, and fetches a map asset as a whole if it lacks nearly all of it; so does this code.
///
/// Marks of data segments: for rows, that the chunk was seen before, on one fixed copy of it; for frames, that the client fetches
/// it. Dictionaries of these frames are fetched once each. Memory: two bits per chunk of the version's segments.
#include "catalog/catalog.h"
#include "commit/transaction.h"
#include "store/chunk_lookup.h"
#include "transfer/download_pages.h"
#include "transfer/frame_walk.h"
#include "transfer/missing_chunks.h"
#include "transfer/site_version.h"

typedef struct download {
  pks_snapshot *snapshot;
  pks__site_version version;
  pks__segment_marks marks;
  pks__download_pages pages;
  uint64_t frame_bytes;       ///< of frames and dictionaries
  pks__scratch dictionaries;  ///< pks__id: dictionaries that are fetched
  bool has_content;           ///< an asset has bytes: the layout is needed
} download;

// MARK: - Frames

static pks_status corrupt_asset(const pks__catalog_entry *entry, const char *text, pks_error *error) {
  return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
}

/// Whether no earlier asset has the chunk. A chunk with only damaged copies counts at each place.
static pks_status is_first(download *download, const pks__id *id, bool *first, pks_error *error) {
  pks__chunk_ref ref;
  bool found;
  *first = true;
  pks_status status = pks__snapshot_find_chunk(download->snapshot, id, PKS__SEGMENT_DATA, &ref, &found, error);
  if (status || !found) { return status; }
  pks__marked_segment *marked;
  status = pks__segment_marks_get(&download->marks, &ref.segment->id, &marked, error);
  if (!status) { *first = pks__mark(marked->rows, ref.row); }
  return status;
}

/// Counts the dictionary that a frame needs, unless a frame before needs it.
static pks_status count_dictionary(download *download, pks__segment *segment, uint32_t codec, pks_error *error) {
  pks__segment_dictionary dictionary;
  if (!pks__codec_has_dictionary(codec)) { return PKS_OK; }
  pks_status status = pks__segment_dictionary_at(segment, codec - PKS__CODEC_DICTIONARY, &dictionary, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&download->dictionaries, pks__id); i++) {
    if (pks__id_equal(PKS__SCRATCH_AT(&download->dictionaries, const pks__id, i), &dictionary.id)) { return PKS_OK; }
  }
  if (status) { return status; }
  download->frame_bytes += dictionary.ref.stored_length;
  return pks__scratch_append(&download->dictionaries, &dictionary.id, sizeof dictionary.id, error);
}

static pks_status count_frame(download *download, const pks__frame_walk *walk, pks_error *error) {
  pks__marked_segment *marked;
  pks_status status = pks__segment_marks_get(&download->marks, &walk->segment, &marked, error);
  if (status) { return status; }
  if (!pks__mark(marked->frames, walk->index)) { return PKS_OK; }
  download->frame_bytes += walk->frame.ref.stored_length;
  return count_dictionary(download, marked->segment, walk->frame.ref.codec, error);
}

/// Counts the frames with chunks that no earlier asset has, and returns the bytes of those chunks.
static pks_status count_new_chunks(
  download *download, pks__frame_walk *walk, pks__chunk_cursor *chunks, uint64_t *new_bytes, pks_error *error
) {
  *new_bytes = 0;
  while (true) {
    pks__catalog_chunk chunk;
    bool more, first = false;
    pks_status status = pks__chunk_cursor_next(chunks, &chunk, &more, error);
    if (status || !more) { return status; }
    status = pks__frame_walk_pass(walk, pks__get32(chunk.length), error);
    if (!status) { status = is_first(download, &chunk.id, &first, error); }
    if (!status && first) { status = count_frame(download, walk, error); }
    if (status) { return status; }
    if (first) { *new_bytes += pks__get32(chunk.length); }
  }
}

/// Counts all frames of an asset.
static pks_status count_whole(
  download *download, const pks__catalog_entry *entry, const pks__layout_entry *place, pks_error *error
) {
  pks__frame_walk walk;
  pks__page_source source = pks__snapshot_pages(download->snapshot);
  pks__frame_walk_init(&walk, &download->marks, source, entry->path, entry->path_length, place);
  pks_status status = PKS_OK;
  for (uint64_t left = entry->size; !status && left > 0;) {
    status = pks__frame_walk_next(&walk, error);
    if (!status) { status = count_frame(download, &walk, error); }
    left -= pks__min64(walk.frame_left, left);
  }
  pks__frame_walk_free(&walk);
  return status;
}

static pks_status count_asset(
  download *download, const pks__catalog_entry *entry, const pks__layout_entry *place, pks_error *error
) {
  pks__page_source source = pks__snapshot_pages(download->snapshot);
  pks__frame_walk walk;
  pks__chunk_cursor chunks;
  uint64_t new_bytes;
  pks__frame_walk_init(&walk, &download->marks, source, entry->path, entry->path_length, place);
  pks__chunk_cursor_init(&chunks, source, entry);
  pks_status status = count_new_chunks(download, &walk, &chunks, &new_bytes, error);
  pks__frame_walk_free(&walk);
  pks__chunk_cursor_free(&chunks);
  if (status || new_bytes == 0) { return status; }
  if (!place->extents) { return pks__download_pages_need_list(&download->pages, &place->list.root, error); }
  if (!place->mapped || !pks__is_nearly_new(new_bytes, entry->size)) { return PKS_OK; }
  return count_whole(download, entry, place, error);
}

// MARK: - Catalog and layout

/// The catalog in parallel with the layout, which has an entry for each asset with bytes.
typedef struct version_walk {
  download *download;
  pks__tree_cursor entries, places;
} version_walk;

static pks_status count_entry(version_walk *walk, pks_error *error) {
  pks__catalog_entry entry;
  pks_status status = pks__catalog_entry_read(&walk->entries, &entry, error);
  if (status || entry.kind != PKS__RECORD_FILE || entry.size == 0) { return status; }
  bool more;
  walk->download->has_content = true;
  status = pks__tree_cursor_next(&walk->places, &more, error);
  if (status) { return status; }
  size_t length = 0;
  const char *path = more ? pks__tree_cursor_key(&walk->places, &length) : NULL;
  if (!path || pks__compare_bytes(path, length, entry.path, entry.path_length) != 0) {
    return corrupt_asset(&entry, "missing in the layout", error);
  }
  pks__layout_entry place;
  if (!pks__layout_entry_decode(walk->places.value, walk->places.value_length, &place)) {
    return corrupt_asset(&entry, "bad entry of a layout", error);
  }
  return count_asset(walk->download, &entry, &place, error);
}

static pks_status count_frames(download *download, const pks__tree *catalog, pks_error *error) {
  pks__page_source source = pks__snapshot_pages(download->snapshot);
  version_walk walk = {.download = download};
  pks__tree_cursor_init(&walk.entries, source, PKS__TREE_MAP, 0, catalog);
  pks__tree_cursor_init(&walk.places, source, PKS__TREE_MAP, 0, &download->version.layout.map);
  bool more;
  pks_status status = pks__tree_cursor_next(&walk.entries, &more, error);
  while (!status && more) {
    status = count_entry(&walk, error);
    if (!status) { status = pks__tree_cursor_next(&walk.entries, &more, error); }
  }
  pks__tree_cursor_free(&walk.entries);
  pks__tree_cursor_free(&walk.places);
  return status;
}

/// Fetches a tree of pages as a client does.
static pks_status fetch_tree(download *download, const pks__tree *tree, pks__page_role role, pks_error *error) {
  pks_status status = pks__download_pages_need(&download->pages, &tree->root, role, tree->height, error);
  return status ? status : pks__download_pages_fetch(&download->pages, error);
}

static pks_status fetch_roots(download *download, pks_error *error) {
  const pks__version *version = download->version.version;
  const pks__id *roots[] = {&version->catalog, &version->layout, &download->version.layout.attributes};
  pks_status status = PKS_OK;
  for (size_t i = 0; !status && i < PKS_COUNT_OF(roots); i++) {
    if (pks__id_is_zero(roots[i])) { continue; }
    status = pks__download_pages_need(&download->pages, roots[i], PKS__ROLE_ROOT, 0, error);
  }
  return status ? status : pks__download_pages_fetch(&download->pages, error);
}

/// In the order of a client: the data it has determines what it fetches next.
static pks_status measure(download *download, pks_error *error) {
  pks__catalog_info info;
  pks__tree catalog;
  pks__page_source source = pks__snapshot_pages(download->snapshot);
  pks_status status = pks__download_pages_list(&download->pages, &download->version.segments, error);
  if (!status) { status = fetch_roots(download, error); }
  if (!status) { status = pks__catalog_read_root(source, &download->version.version->catalog, &info, &catalog, error); }
  if (!status) { status = fetch_tree(download, &catalog, PKS__ROLE_CATALOG, error); }
  if (!status) { status = count_frames(download, &catalog, error); }
  if (status || !download->has_content) { return status; }
  return fetch_tree(download, &download->version.layout.map, PKS__ROLE_LAYOUT, error);
}

static void free_download(download *download) {
  pks__site_version_close(&download->version);
  pks__download_pages_free(&download->pages);
  pks__segment_marks_free(&download->marks);
  pks__scratch_free(&download->dictionaries);
}

pks_status pks_snapshot_measure_download(
  uint64_t *bytes, const pks_snapshot *snapshot, uint32_t pack, uint64_t version, pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  download download = {.snapshot = pks__snapshot_mutable(snapshot)};
  pks__segment_marks_init(&download.marks, snapshot->store);
  pks__download_pages_init(&download.pages, download.snapshot, &download.marks);
  status = pks__site_version_open(&download.version, download.snapshot, pack, version, error);
  if (!status) { status = measure(&download, error); }
  if (!status) { *bytes = download.frame_bytes + download.pages.bytes; }
  free_download(&download);
  return status;
}

// MARK: - Updates

/// Marks the chunks of an asset that the device has.
static pks_status mark_asset(download *download, const pks__catalog_entry *entry, pks_error *error) {
  pks__chunk_cursor chunks;
  pks__chunk_cursor_init(&chunks, pks__snapshot_pages(download->snapshot), entry);
  pks__catalog_chunk chunk;
  bool more, first;
  pks_status status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
  while (!status && more) {
    status = is_first(download, &chunk.id, &first, error);
    if (!status) { status = pks__chunk_cursor_next(&chunks, &chunk, &more, error); }
  }
  pks__chunk_cursor_free(&chunks);
  return status;
}

/// Marks the chunks of the version that the device has.
static pks_status mark_version(download *download, const pks__id *catalog, pks_error *error) {
  pks__catalog_info info;
  pks__tree map;
  pks__page_source source = pks__snapshot_pages(download->snapshot);
  pks_status status = pks__catalog_read_root(source, catalog, &info, &map, error);
  if (status) { return status; }
  pks__tree_cursor entries;
  pks__tree_cursor_init(&entries, source, PKS__TREE_MAP, 0, &map);
  bool more;
  status = pks__tree_cursor_next(&entries, &more, error);
  while (!status && more) {
    pks__catalog_entry entry;
    status = pks__catalog_entry_read(&entries, &entry, error);
    if (!status && entry.kind == PKS__RECORD_FILE) { status = mark_asset(download, &entry, error); }
    if (!status) { status = pks__tree_cursor_next(&entries, &more, error); }
  }
  pks__tree_cursor_free(&entries);
  return status;
}

static pks_status measure_update(
  uint64_t *bytes, pks_snapshot *snapshot, uint32_t pack, uint64_t from, uint64_t to, pks_error *error
) {
  download download = {.snapshot = snapshot};
  pks__site_version before = {0};
  pks__catalog_info info;
  pks__tree catalog;
  pks__segment_marks_init(&download.marks, snapshot->store);
  pks__download_pages_init(&download.pages, snapshot, &download.marks);
  pks_status status = pks__site_version_open(&before, snapshot, pack, from, error);
  if (!status) { status = pks__site_version_open(&download.version, snapshot, pack, to, error); }
  if (!status) { status = mark_version(&download, &before.version->catalog, error); }
  const pks__version *version = download.version.version;
  pks__page_source source = pks__snapshot_pages(snapshot);
  if (!status) { status = pks__catalog_read_root(source, &version->catalog, &info, &catalog, error); }
  if (!status) { status = count_frames(&download, &catalog, error); }
  if (!status) { *bytes = download.frame_bytes; }
  pks__site_version_close(&before);
  free_download(&download);
  return status;
}

pks_status pks_snapshot_measure_update(
  uint64_t *bytes, const pks_snapshot *snapshot, uint32_t pack, uint64_t from, uint64_t to, pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  return status ? status : measure_update(bytes, pks__snapshot_mutable(snapshot), pack, from, to, error);
}

pks_status pks_txn_measure_update(
  uint64_t *bytes, const pks_txn *txn, const char *pack, uint64_t from, uint64_t to, pks_error *error
) {
  const pks_snapshot *snapshot = pks__txn_snapshot(txn);
  uint32_t index = pks__generation_find_pack(&snapshot->generation, pack);
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status && index == UINT32_MAX) {
    status = pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, pack, "not in the store");
  }
  return status ? status : measure_update(bytes, pks__snapshot_mutable(snapshot), index, from, to, error);
}
