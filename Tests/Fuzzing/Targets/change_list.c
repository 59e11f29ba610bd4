/// Change lists, received by a delivery into a small store. The delivery's root authenticates the complete list.
///
/// Input: u8 flags. With 1, a list follows; with 2, its catalogs are corrected. Without 1, the target builds a list
/// from 20 bytes of counts (le32 files, links, folders, bytes of them all, new bytes), the id of the new catalog, le16
/// length and bytes of the description, u8 number of new chunks, whose ids the target computes, and the rest of the
/// body. With 4, the list begins with the older version; with 8, its files are map assets.
#include "transfer/change_list.h"
#include "../fuzzing.h"

enum { SEGMENTS = 8, CHUNKS_MAX = 255 };

static sim_disk *disks[2];
static pks__id catalogs[2][2];  // by disk: catalogs of the older version and of the newer one

static void read_catalogs(size_t which) {
  pks_store *store = fuzz_open_store(disks[which]);
  pks_snapshot *snapshot;
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  uint32_t pack = fuzz_find_pack(snapshot);
  FUZZ_ASSERT(pks_snapshot_pack(snapshot, pack).version_count >= 2);
  for (uint32_t i = 0; i < 2; i++) {
    pks_pack_version version = pks_snapshot_version(snapshot, pack, 1 - i);
    memcpy(&catalogs[which][i], version.catalog, PKS__ID_SIZE);
  }
  pks_snapshot_close(snapshot);
  pks_store_close(store);
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count, (void)arguments;
  for (size_t i = 0; i < 2; i++) { disks[i] = fuzz_make_store(1); }
  fuzz_map_files(disks[1]);
  for (size_t i = 0; i < 2; i++) { read_catalogs(i); }
  return 0;
}

// MARK: Building a list

static void make_list(fuzz_input *input, const pks__id *from, pks__scratch *out) {
  pks__id ids[CHUNKS_MAX];
  pks__scratch body = {0};
  pks__change_list list = {.chunk_average = 1024, .from = *from, .ids = ids};
  size_t got;
  list.file_count = fuzz_take(input, 4);
  list.link_count = fuzz_take(input, 4);
  list.folder_count = fuzz_take(input, 4);
  list.logical_bytes = fuzz_take(input, 4);
  list.new_bytes = fuzz_take(input, 4);
  const uint8_t *id = fuzz_take_bytes(input, PKS__ID_SIZE, &got);
  memcpy(&list.to, id, got);
  const uint8_t *description = fuzz_take_bytes(input, (size_t)fuzz_take(input, 2), &got);
  list.description_length = (uint32_t)got;
  FUZZ_ASSERT(!pks__scratch_append(&body, description, got, NULL));
  list.chunk_count = (uint32_t)fuzz_take(input, 1);
  for (uint32_t i = 0; i < list.chunk_count; i++) { pkh_sha256(&i, sizeof i, ids[i].bytes); }
  FUZZ_ASSERT(!pks__scratch_append(&body, input->next, input->left, NULL));
  list.body = body.bytes;
  list.body_length = (uint32_t)body.length;
  FUZZ_ASSERT(!pks__change_list_write(&list, out, "list", NULL));
  pks__scratch_free(&body);
}

// MARK: Receiving it

/// Checks that the committed version is undamaged.
static void check(pks_store *store) {
  pks_snapshot *snapshot;
  pks_verify_totals totals;
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  FUZZ_ASSERT(!pks_snapshot_verify(snapshot, true, NULL, NULL, NULL, &totals, NULL) && totals.fault_count == 0);
  pks_snapshot_close(snapshot);
}

/// Gives the list to the delivery; no other data is available. Returns whether the delivery is complete.
static bool fetch(pks_delivery *delivery, const pks__scratch *bytes) {
  pks_delivery_changes changes = {.length = (uint32_t)bytes->length};
  pks_want want;
  pks_next next;
  pks_error error;
  bool is_wanted, is_final;
  pkh_sha256(bytes->bytes, (size_t)bytes->length, changes.digest);
  if (pks_delivery_use_changes(delivery, &changes, &is_wanted, &error)) { return false; }
  FUZZ_ASSERT(is_wanted);
  FUZZ_ASSERT(!pks_delivery_next(delivery, &want, &next, &error) && next == PKS_NEXT_WANT);
  FUZZ_ASSERT(want.length == bytes->length);
  // It is authentic. Its contents may be invalid: then the delivery requests pages.
  FUZZ_ASSERT(!pks_delivery_give(delivery, bytes->bytes, want.length, &is_final, &error));
  return !pks_delivery_next(delivery, &want, &next, &error) && next == PKS_NEXT_DONE;
}

static void deliver(sim_disk *disk, const pks__scratch *bytes) {
  pks_store *store = fuzz_open_store(disk);
  pks_txn *txn;
  pks_delivery *delivery;
  pks_site_segment segments[SEGMENTS] = {0};
  for (uint8_t i = 0; i < SEGMENTS; i++) {
    segments[i] = (pks_site_segment){.id = {i}, .file_length = 1 << 20, .table_length = PKS__FRAME_TABLE_HEADER};
  }
  pks_delivery_request version = {.pack = "Example", .version = 9, .segments = segments, .segment_count = SEGMENTS};
  pks__change_list list;
  if (!pks__change_list_read(&list, bytes->bytes, (size_t)bytes->length, "list", NULL)) {
    memcpy(version.catalog, list.to.bytes, sizeof version.catalog);
    if (list.attribute_byte_count > 0) { pkh_sha256(list.attributes, list.attribute_byte_count, version.attributes); }
  }
  bool is_needed, is_staged = false;
  FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
  if (!pks_delivery_open(&delivery, &is_needed, txn, &version, NULL) && is_needed) {
    is_staged = fetch(delivery, bytes) && !pks_delivery_stage(NULL, delivery, NULL);
    pks_delivery_close(delivery, false);
  }
  if (is_staged) {
    FUZZ_ASSERT(!pks_txn_commit(txn, NULL, NULL));
    check(store);
  } else {
    pks_txn_abort(txn);
  }
  pks_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint64_t flags = fuzz_take(&input, 1);
  const pks__id *versions = catalogs[flags & 8 ? 1 : 0];
  pks__scratch list = {0};
  if (flags & 1) {
    FUZZ_ASSERT(!pks__scratch_append(&list, input.next, input.left, NULL));
    bool has_catalogs = flags & 2 && list.length >= PKS__CHANGE_LIST_FIXED;
    if (has_catalogs) {
      memcpy(list.bytes + 16, &versions[flags & 4 ? 0 : 1], PKS__ID_SIZE);
      memcpy(list.bytes + 48, &versions[flags & 4 ? 1 : 0], PKS__ID_SIZE);
    }
  } else {
    make_list(&input, &versions[flags & 4 ? 0 : 1], &list);
  }
  sim_disk *disk = sim_clone(disks[flags & 8 ? 1 : 0]);
  uint64_t open = pks__memory_counts_now().open;
  deliver(disk, &list);
  FUZZ_ASSERT(pks__memory_counts_now().open == open);
  sim_counts counts = sim_counts_now(disk);
  FUZZ_ASSERT(counts.handles + counts.maps + counts.locks == 0);
  sim_free(disk);
  pks__scratch_free(&list);
  return 0;
}
