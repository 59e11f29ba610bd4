/// Deltas, applied to a small store: the header, the description, and groups with their pieces and covers.
///
/// Input: u8 flags. With 1, a delta file follows; with 2, the digests of its blocks are corrected, or the sum of a short
/// delta. Without 1, the target builds a delta from 16 bytes of a header's counts (le32 files, links, folders, bytes of
/// them all), the id of the new catalog, le16 length and bytes of the description, then groups, each le32 raw length,
/// le16 length and bytes of its stored form. With 4, it is applied to the older version; with 8, its files are map
/// assets. With 16, a delivery receives it, and its root authenticates the complete file. With 32, it is the second
/// delta in a chain, after a valid delta from the older version to the newer. With 64, a built delta is short if it fits.
#include "../fuzzing.h"

enum { GROUPS_MAX = 64 };

static sim_disk *disks[2];
static pks_delta_info from_older, from_newer;
static fuzz_file older_to_newer, newer_to_older;

static int keep(void *context, uint64_t offset, const void *bytes, size_t byte_count) {
  fuzz_file *file = context;
  size_t end = (size_t)offset + byte_count;
  if (file->length < end) {
    file->bytes = realloc(file->bytes, end);
    FUZZ_ASSERT(file->bytes);
    file->length = end;
  }
  memcpy(file->bytes + offset, bytes, byte_count);
  return 0;
}

/// Describes a valid delta of the store, from the older or the newer version of the pack. `file` keeps its bytes.
static pks_delta_info describe(sim_disk *disk, uint64_t from, uint64_t to, fuzz_file *file) {
  pks_store *store = fuzz_open_store(disk);
  pks_snapshot *snapshot;
  pks_delta_info info;
  pks_delta_request request = {.pack = "Example", .from = from, .to = to, .level = 1, .context = file, .write = keep};
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  FUZZ_ASSERT(!pks_delta_build(&info, snapshot, &request, NULL));
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  return info;
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count, (void)arguments;
  for (size_t i = 0; i < 2; i++) { disks[i] = fuzz_make_store(1); }
  from_older = describe(disks[0], 1, 2, &older_to_newer);
  from_newer = describe(disks[0], 2, 1, &newer_to_older);
  fuzz_map_files(disks[1]);
  return 0;
}

// MARK: Building a delta

static size_t append(fuzz_file *file, const void *bytes, size_t byte_count) {
  file->bytes = realloc(file->bytes, file->length + byte_count + 1);
  FUZZ_ASSERT(file->bytes);
  if (byte_count > 0) { memcpy(file->bytes + file->length, bytes, byte_count); }
  return file->length += byte_count;
}

/// Writes a delta, in the short form if `shortens` and if it fits.
static void put_delta(
  pks__delta_header *header, const pks__delta_block *blocks, const fuzz_file *stored, bool shortens, fuzz_file *out
) {
  pks__scratch bytes = {0};
  bool is_short = false;
  if (shortens) {
    FUZZ_ASSERT(!pks__delta_put_short(header, blocks, stored->bytes, stored->length, &bytes, &is_short, NULL));
  }
  if (!is_short) {
    bytes.length = 0;
    FUZZ_ASSERT(!pks__delta_put_header(header, blocks, &bytes, NULL));
  }
  append(out, bytes.bytes, (size_t)bytes.length);
  pks__scratch_free(&bytes);
  if (!is_short) { append(out, stored->bytes, stored->length); }
}

static void make_delta(fuzz_input *input, const pks_delta_info *from, bool shortens, fuzz_file *out) {
  pks__delta_header header = {.chunk_average = 1024, .from_number = from->from_version, .to_number = 9};
  pks__delta_block blocks[1 + GROUPS_MAX];
  const uint8_t *stored[1 + GROUPS_MAX];
  uint8_t *part;
  size_t got, count = 1;
  memcpy(header.pack, from->pack, sizeof header.pack);
  memcpy(&header.from_catalog, from->from_catalog, PKS__ID_SIZE);
  header.file_count = fuzz_take(input, 4);
  header.link_count = fuzz_take(input, 4);
  header.folder_count = fuzz_take(input, 4);
  header.logical_bytes = fuzz_take(input, 4);
  const uint8_t *id = fuzz_take_bytes(input, PKS__ID_SIZE, &got);
  memcpy(&header.to_catalog, id, got);
  const uint8_t *description = fuzz_take_bytes(input, (size_t)fuzz_take(input, 2), &got);
  stored[0] = part = malloc(1 + got);
  FUZZ_ASSERT(part);
  part[0] = PKS__DELTA_PART_RAW;
  if (got > 0) { memcpy(part + 1, description, got); }
  blocks[0] =
    (pks__delta_block){.stored_length = pks__put32((uint32_t)got + 1), .raw_length = pks__put32((uint32_t)got)};
  header.part_count = 1;
  header.prefix_max = PKS__DELTA_PREFIX_MAX / 16;
  for (; count <= GROUPS_MAX && input->left > 0; count++) {
    uint32_t raw_length = (uint32_t)(fuzz_take(input, 4) % (PKS__DELTA_GROUP / 4));
    stored[count] = fuzz_take_bytes(input, (size_t)fuzz_take(input, 2), &got);
    blocks[count] =
      (pks__delta_block){.stored_length = pks__put32((uint32_t)got), .raw_length = pks__put32(raw_length)};
    header.new_bytes += raw_length;
    if (raw_length > header.group_max) { header.group_max = raw_length; }
  }
  header.group_count = (uint32_t)count - 1;
  fuzz_file all = {0};
  for (size_t i = 0; i < count; i++) {
    uint32_t stored_length = pks__get32(blocks[i].stored_length);
    pkh_sha256(stored[i], stored_length, blocks[i].digest.bytes);
    append(&all, stored[i], stored_length);
  }
  put_delta(&header, blocks, &all, shortens, out);
  free(all.bytes);
  free(part);
}

/// Corrects the sum at the end of a short delta.
static void put_sum_right(uint8_t *bytes, uint32_t length) {
  pks_le64 sum = pks__put64(pks__checksum(bytes, length - sizeof sum));
  memcpy(bytes + length - sizeof sum, &sum, sizeof sum);
}

/// Corrects the digests of blocks at their places in the header, or the sum of a short delta.
static void put_digests_right(fuzz_file *file) {
  pks_error error;
  uint32_t length;
  pks__delta_header header;
  const pks__delta_block *blocks;
  if (file->length < PKS__DELTA_FIXED || pks__delta_read_length(file->bytes, "name", &length, &error)) { return; }
  if (length > file->length) { return; }
  if (memcmp(file->bytes, PKS__DELTA_SHORT_MAGIC, 8) == 0) {
    put_sum_right(file->bytes, length);
    return;
  }
  if (pks__delta_read_header(file->bytes, length, "name", &header, NULL, &blocks, &error)) { return; }
  size_t offset = length;
  for (uint32_t i = 0; i < header.part_count + header.group_count; i++) {
    size_t stored_length = pks__get32(blocks[i].stored_length);
    if (stored_length > file->length - offset) { return; }
    size_t row = (size_t)((const uint8_t *)&blocks[i] - file->bytes);
    pkh_sha256(file->bytes + offset, stored_length, file->bytes + row + 8);
    offset += stored_length;
  }
}

// MARK: Applying

static int read_file(void *context, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  const fuzz_file *file = context;
  size_t left = offset < file->length ? file->length - (size_t)offset : 0;
  *got = pks__min_size(left, byte_count);
  if (*got > 0) { memcpy(out, file->bytes + offset, *got); }
  return 0;
}

/// A delta may keep chunks many times, so applying it can be cancelled.
static bool goes_on(void *context, const pks_progress *progress) {
  (void)progress;
  return ++*(unsigned *)context < 64;
}

/// Checks that the committed version is undamaged.
static void check(pks_store *store) {
  pks_snapshot *snapshot;
  pks_verify_totals totals;
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  FUZZ_ASSERT(!pks_snapshot_verify(snapshot, true, NULL, NULL, NULL, &totals, NULL) && totals.fault_count == 0);
  pks_snapshot_close(snapshot);
}

static void apply(sim_disk *disk, fuzz_file *file, bool is_chain) {
  pks_store *store = fuzz_open_store(disk);
  pks_txn *txn;
  pks_error error;
  unsigned steps = 0;
  const pks_delta_step before = {.delta = {.context = &older_to_newer, .read = read_file, .name = "step"}};
  pks_apply_request request = {
    .delta = {.context = file, .read = read_file, .name = "delta"},
    .steps = &before,
    .step_count = is_chain,
    .context = &steps,
    .progress = goes_on,
  };
  pks_add_result result;
  pks_delta_info info;
  FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
  if (!pks_delta_inspect(&info, &request.delta, pkh_sha256, &error)) { FUZZ_ASSERT(strlen(info.pack) > 0); }
  if (pks_txn_apply_delta(&result, txn, &request, &error)) {
    FUZZ_ASSERT(error.text && error.status);
    pks_txn_abort(txn);
  } else {
    FUZZ_ASSERT(memcmp(result.version.catalog, info.to_catalog, sizeof info.to_catalog) == 0);
    FUZZ_ASSERT(!pks_txn_commit(txn, NULL, NULL));
    check(store);
  }
  pks_store_close(store);
}

/// Returns the target version and the delta as a root would describe them, according to the header if there is one.
static void describe_delivery(
  const fuzz_file *file, pks__delta_header *header, pks_delivery_request *version, pks_delivery_delta *delta
) {
  const pks__delta_block *blocks;
  pks__scratch rows = {0};
  pks_error error;
  uint32_t length;
  *version = (pks_delivery_request){.pack = "Example", .version = 9};
  *delta = (pks_delivery_delta){.header_length = PKS__DELTA_FIXED + 9, .length = file->length};
  if (file->length < PKS__DELTA_FIXED || pks__delta_read_length(file->bytes, "name", &length, &error)) { return; }
  if (length > file->length) { return; }
  delta->header_length = length;
  pkh_sha256(file->bytes, length, delta->header_digest);
  pks_status status = pks__delta_read_header(file->bytes, length, "name", header, &rows, &blocks, &error);
  pks__scratch_free(&rows);
  if (status) { return; }
  version->version = header->to_number;
  version->committed_at_ns = header->committed_at_ns;
  memcpy(version->catalog, header->to_catalog.bytes, sizeof version->catalog);
}

/// Gives the requested data as long as the delivery accepts it. Returns whether the delivery is complete.
static bool fetch(pks_delivery *delivery, const fuzz_file *const files[]) {
  pks_want want;
  pks_next next;
  pks_error error;
  bool is_final;
  while (!pks_delivery_next(delivery, &want, &next, &error)) {
    if (next != PKS_NEXT_WANT) { return next == PKS_NEXT_DONE; }
    const fuzz_file *file = files[want.segment];
    if (want.offset > file->length || want.length > file->length - want.offset) { return false; }
    if (pks_delivery_give(delivery, file->bytes + want.offset, want.length, &is_final, &error)) { return false; }
  }
  return false;
}

/// The delta before the last one, as a root would describe it.
static pks_delivery_delta name_step(void) {
  pks_delivery_delta delta = {.header_length = from_older.header_length, .length = from_older.length};
  memcpy(delta.header_digest, from_older.header_digest, sizeof delta.header_digest);
  return delta;
}

static void deliver(sim_disk *disk, fuzz_file *file, bool is_chain) {
  pks_store *store = fuzz_open_store(disk);
  pks_txn *txn;
  pks_delivery *delivery;
  pks_delivery_request version;
  pks_delivery_delta deltas[2] = {name_step()};
  const fuzz_file *files[2] = {&older_to_newer, file};
  pks__delta_header header = {0};
  bool is_needed, is_staged = false;
  unsigned steps = 0;
  FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
  describe_delivery(file, &header, &version, &deltas[1]);
  uint32_t first = is_chain ? 0 : 1;
  pks_delivery_chain chain = {
    .deltas = deltas + first, .delta_count = 2 - first, .context = &steps, .progress = goes_on};
  if (!pks_delivery_open(&delivery, &is_needed, txn, &version, NULL) && is_needed) {
    is_staged = !pks_delivery_use_deltas(delivery, &chain, NULL) && fetch(delivery, files + first)
      && !pks_delivery_stage(NULL, delivery, NULL);
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
  fuzz_file file = {0};
  if (flags & 1) {
    append(&file, input.next, input.left);
    if (flags & 2) { put_digests_right(&file); }
  } else {
    make_delta(&input, flags & 4 ? &from_older : &from_newer, flags & 64, &file);
  }
  sim_disk *disk = sim_clone(disks[flags & 8 ? 1 : 0]);
  uint64_t open = pks__memory_counts_now().open;
  if (flags & 16) {
    deliver(disk, &file, flags & 32);
  } else {
    apply(disk, &file, flags & 32);
  }
  FUZZ_ASSERT(pks__memory_counts_now().open == open);
  sim_counts counts = sim_counts_now(disk);
  FUZZ_ASSERT(counts.handles + counts.maps + counts.locks == 0);
  sim_free(disk);
  free(file.bytes);
  return 0;
}
