/// Deliveries from a hostile site. All its data is authentic: changed pages get new ids, up to the roots, and frame
/// tables get new digests. An accepted version must be undamaged.
///
/// Input: u8 site (low two bits) and receiving store (next two). Then changes: u8 object (a page, or a frame table from
/// 200 on), u8 kind of change, le16 position, u8 value.
#include "../fuzzing.h"

enum { PAGES_MAX = 160, SEGMENTS_MAX = 12, CHANGES_MAX = 16, WANTS_MAX = 4000, FIRST_TABLE = 200 };

typedef struct block {
  uint8_t *bytes;
  size_t length;
  pks__id name;  // a page's id in other pages
} block;

typedef struct site {
  pks_site_segment segments[SEGMENTS_MAX];  // the last one is made for each input, and contains the pages
  block tables[SEGMENTS_MAX], files[SEGMENTS_MAX];
  uint32_t segment_count;
  block pages[PAGES_MAX];
  size_t page_count;
  size_t catalog, layout;  // index of the page
  uint64_t version;
  char pack[PKS__PACK_NAME_MAX + 1];
} site;

static site sites[FUZZ_STORE_KINDS];
static sim_disk *takers[FUZZ_STORE_KINDS + 1];

static void append(block *block, const void *bytes, size_t byte_count) {
  block->bytes = realloc(block->bytes, block->length + byte_count + 1);
  FUZZ_ASSERT(block->bytes);
  memcpy(block->bytes + block->length, bytes, byte_count);
  block->length += byte_count;
}

static bool append_piece(void *context, const void *bytes, size_t byte_count) {
  append(context, bytes, byte_count);
  return true;
}

// MARK: - Reading a site from a store

static void add_page(site *site, const void *bytes, size_t length) {
  pks__id id;
  pkh_sha256(bytes, length, id.bytes);
  for (size_t i = 0; i < site->page_count; i++) {
    if (pks__id_equal(&site->pages[i].name, &id)) { return; }
  }
  FUZZ_ASSERT(site->page_count < PAGES_MAX);
  block *page = &site->pages[site->page_count++];
  append(page, bytes, length);
  page->name = id;
}

static void take_pages(site *site, const block *table_bytes, const block *file) {
  pks__frame_table table;
  FUZZ_ASSERT(!pks__frame_table_read(table_bytes->bytes, table_bytes->length, "table", &table, NULL));
  pks__decoder *decoder = pks__decoder_create();
  for (uint32_t i = 0; i < table.frame_count; i++) {
    pks__tabled_frame frame = pks__frame_table_at(&table, i);
    uint8_t *raw = malloc(frame.raw_length);
    FUZZ_ASSERT(raw && decoder);
    const uint8_t *stored = file->bytes + frame.offset;
    if (frame.codec == PKS__CODEC_RAW) { memcpy(raw, stored, frame.raw_length); }
    bool is_raw = frame.codec == PKS__CODEC_RAW;
    FUZZ_ASSERT(is_raw || pks__decode(decoder, stored, frame.stored_length, raw, frame.raw_length));
    add_page(site, raw, frame.raw_length);
    free(raw);
  }
  pks__decoder_destroy(decoder);
}

typedef struct taking {
  site *site;
  sim_disk *disk;
  const pks_snapshot *snapshot;
} taking;

static bool take_segment(void *context, const uint8_t id[16], bool is_metadata, uint64_t file_length) {
  taking *taking = context;
  site *site = taking->site;
  block table = {0}, file = {0};
  char name[PKS__SEGMENT_NAME], path[64];
  pks__segment_id segment;
  memcpy(segment.bytes, id, sizeof segment.bytes);
  pks__segment_name(&segment, name);
  (void)snprintf(path, sizeof path, "/store/segments/%s", name);
  file.bytes = sim_read_file(taking->disk, path, &file.length);
  FUZZ_ASSERT(file.bytes && file.length == file_length);
  FUZZ_ASSERT(!pks_snapshot_frame_table(taking->snapshot, id, append_piece, &table, NULL));
  if (is_metadata) {
    take_pages(site, &table, &file);
    free(table.bytes);
    free(file.bytes);
    return true;
  }
  FUZZ_ASSERT(site->segment_count < SEGMENTS_MAX - 1);
  pks_site_segment *row = &site->segments[site->segment_count];
  memcpy(row->id, id, sizeof row->id);
  row->file_length = file_length;
  site->tables[site->segment_count] = table;
  site->files[site->segment_count++] = file;
  return true;
}

static size_t find_page(const site *site, const uint8_t id[32]) {
  for (size_t i = 0; i < site->page_count; i++) {
    if (memcmp(site->pages[i].name.bytes, id, 32) == 0) { return i; }
  }
  FUZZ_ASSERT(false);
  return 0;
}

static void take_site(site *site, unsigned kind) {
  sim_disk *disk = fuzz_make_store(kind);
  pks_store *store = fuzz_open_store(disk);
  pks_snapshot *snapshot;
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  uint32_t pack = pks_snapshot_pack_count(snapshot) - 1;
  pks_pack found = pks_snapshot_pack(snapshot, pack);
  taking taking = {.site = site, .disk = disk, .snapshot = snapshot};
  FUZZ_ASSERT(!pks_snapshot_visit_segments(snapshot, pack, found.current.number, take_segment, &taking, NULL));
  site->catalog = find_page(site, found.current.catalog);
  site->layout = find_page(site, found.current.layout);
  site->version = found.current.number;
  (void)snprintf(site->pack, sizeof site->pack, "%s", found.name);
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  sim_free(disk);
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count, (void)arguments;
  for (unsigned kind = 0; kind < FUZZ_STORE_KINDS; kind++) {
    take_site(&sites[kind], kind);
    takers[kind] = fuzz_make_store(kind);
  }
  takers[FUZZ_STORE_KINDS] = sim_new(1);
  pks_options options = {
    .sha256 = pkh_sha256, .vfs = sim_vfs(takers[FUZZ_STORE_KINDS]), .thread_count = 1, .create = true};
  pks_store *store;
  FUZZ_ASSERT(!pks_store_open(&store, "/store", &options, NULL));
  pks_store_close(store);
  return 0;
}

// MARK: - Changes

static void change(fuzz_input *input, block *block) {
  enum { SET, FLIP, ADD, CUT, GROW, INSERT, NUMBER, KINDS };
  uint64_t how = fuzz_take(input, 1) % KINDS, where = fuzz_take(input, 2), value = fuzz_take(input, 1);
  size_t at = block->length > 0 ? where % block->length : 0;
  if (how == GROW || how == INSERT || block->length == 0) {
    uint8_t byte = (uint8_t)value;
    append(block, &byte, 1);
    if (how == INSERT) {
      memmove(block->bytes + at + 1, block->bytes + at, block->length - 1 - at);
      block->bytes[at] = byte;
    }
    return;
  }
  switch (how) {
    case SET: block->bytes[at] = (uint8_t)value; break;
    case FLIP: block->bytes[at] ^= (uint8_t)(1u << value % 8); break;
    case ADD: block->bytes[at] = (uint8_t)(block->bytes[at] + value); break;
    case CUT: block->length = at; break;
    default:
      for (size_t i = at; i < block->length && i < at + 8; i++) {
        block->bytes[i] = (uint8_t)(value & 1 ? 0xff : value);
      }
  }
}

/// Replaces a page's id in all references.
static void rename_page(site *site, const pks__id *from, const pks__id *to) {
  for (size_t i = 0; i < site->page_count; i++) {
    block *page = &site->pages[i];
    for (size_t at = 0; at + sizeof *from <= page->length; at++) {
      if (memcmp(page->bytes + at, from, sizeof *from) == 0) { memcpy(page->bytes + at, to, sizeof *to); }
    }
  }
}

/// Gives each page the id that belongs to its bytes.
static void rename_pages(site *site) {
  bool any = true;
  for (unsigned round = 0; any && round < 20; round++) {
    any = false;
    for (size_t i = 0; i < site->page_count; i++) {
      pks__id id;
      pkh_sha256(site->pages[i].bytes, site->pages[i].length, id.bytes);
      if (pks__id_equal(&id, &site->pages[i].name)) { continue; }
      pks__id old = site->pages[i].name;
      rename_page(site, &old, &id);
      site->pages[i].name = id;
      any = true;
    }
  }
}

static void append_number(block *block, uint64_t value, size_t byte_count) {
  pks_le64 stored = pks__put64(value);
  append(block, &stored, byte_count);
}

/// Builds the metadata segment: every page uncompressed, in its own frame.
static void build_metadata(site *site) {
  uint32_t index = site->segment_count++;
  block *file = &site->files[index], *table = &site->tables[index];
  pks_site_segment *row = &site->segments[index];
  const uint8_t header[64] = {0};
  append(file, header, sizeof header);
  for (size_t i = 0; i < site->page_count; i++) { append(file, site->pages[i].bytes, site->pages[i].length); }
  *row = (pks_site_segment){.is_metadata = true, .file_length = file->length};
  memset(row->id, 7, sizeof row->id);
  append(table, "PKSFRAM0", 8);
  append_number(table, 0, 4);
  append_number(table, PKS__SEGMENT_METADATA, 4);
  append(table, row->id, sizeof row->id);
  append_number(table, file->length, 8);
  append_number(table, site->page_count, 4);
  append_number(table, 0, 4);
  uint64_t offset = sizeof header;
  for (size_t i = 0; i < site->page_count; i++) {
    append_number(table, offset, 8);
    append_number(table, site->pages[i].length, 4);
    append_number(table, site->pages[i].length, 4);
    append(table, &site->pages[i].name, sizeof site->pages[i].name);
    offset += site->pages[i].length;
  }
  for (size_t i = 0; i < site->page_count; i++) { append(table, &site->pages[i].name, sizeof site->pages[i].name); }
}

static block copy_block(const block *from) {
  block copy = {.name = from->name};
  append(&copy, from->bytes, from->length);
  return copy;
}

static site copy_site(const site *from) {
  site copy = *from;
  for (uint32_t i = 0; i < from->segment_count; i++) {
    copy.tables[i] = copy_block(&from->tables[i]);
    copy.files[i] = copy_block(&from->files[i]);
  }
  for (size_t i = 0; i < from->page_count; i++) { copy.pages[i] = copy_block(&from->pages[i]); }
  return copy;
}

static void free_site(site *site) {
  for (uint32_t i = 0; i < site->segment_count; i++) {
    free(site->tables[i].bytes);
    free(site->files[i].bytes);
  }
  for (size_t i = 0; i < site->page_count; i++) { free(site->pages[i].bytes); }
}

static site make_site(fuzz_input *input, const site *sound) {
  site site = copy_site(sound);
  struct {
    fuzz_input input;
    uint64_t table;
  } later[CHANGES_MAX];
  size_t later_count = 0;
  for (size_t i = 0; i < CHANGES_MAX && input->left >= 5; i++) {
    uint64_t what = fuzz_take(input, 1);
    if (what < FIRST_TABLE) {
      change(input, &site.pages[what % site.page_count]);
      continue;
    }
    later[later_count].input = *input;
    later[later_count++].table = what - FIRST_TABLE;
    (void)fuzz_take(input, 4);
  }
  rename_pages(&site);
  build_metadata(&site);
  for (size_t i = 0; i < later_count; i++) {
    change(&later[i].input, &site.tables[later[i].table % site.segment_count]);
  }
  for (uint32_t i = 0; i < site.segment_count; i++) {
    site.segments[i].table_length = (uint32_t)site.tables[i].length;
    pkh_sha256(site.tables[i].bytes, site.tables[i].length, site.segments[i].table_digest);
  }
  return site;
}

// MARK: - Receiving it

static pks_status give(pks_delivery *delivery, const site *site, const pks_want *want, pks_error *error) {
  const block *from = want->is_table ? &site->tables[want->segment] : &site->files[want->segment];
  uint8_t *bytes = calloc(1, want->length + 1u);
  bool is_final;
  FUZZ_ASSERT(bytes && want->segment < site->segment_count);
  if (pks__range_fits(want->offset, want->length, from->length)) {
    memcpy(bytes, from->bytes + want->offset, want->length);
  }
  pks_status status = pks_delivery_give(delivery, bytes, want->length, &is_final, error);
  free(bytes);
  return status;
}

static pks_status take(pks_delivery *delivery, const site *site, pks_error *error) {
  for (unsigned wants = 0; wants < WANTS_MAX; wants++) {
    pks_want want;
    pks_next next;
    pks_status status = pks_delivery_next(delivery, &want, &next, error);
    if (!status && next == PKS_NEXT_WANT) { status = give(delivery, site, &want, error); }
    if (status || next == PKS_NEXT_DONE) { return status; }
    FUZZ_ASSERT(next == PKS_NEXT_WANT);
  }
  FUZZ_ASSERT(false);
  return PKS_OK;
}

static void see_fault(void *context, const pks_fault *fault) {
  (void)context;
  (void)fprintf(stderr, "fault: %s in %s\n", fault->text, fault->file);
}

/// Checks that the accepted version is undamaged.
static void check_store(pks_store *store) {
  pks_snapshot *snapshot;
  pks_verify_totals totals;
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  FUZZ_ASSERT(!pks_snapshot_verify(snapshot, true, see_fault, NULL, NULL, &totals, NULL));
  FUZZ_ASSERT(totals.fault_count == 0);
  pks_snapshot_close(snapshot);
}

static void deliver(pks_store *store, const site *site) {
  pks_delivery_request request = {
    .pack = site->pack,
    .version = site->version + 1000,
    .segments = site->segments,
    .segment_count = site->segment_count,
  };
  memcpy(request.catalog, site->pages[site->catalog].name.bytes, sizeof request.catalog);
  memcpy(request.layout, site->pages[site->layout].name.bytes, sizeof request.layout);
  pks_txn *txn;
  pks_delivery *delivery;
  pks_error error;
  uint64_t generation;
  bool needed;
  FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
  pks_status status = pks_delivery_open(&delivery, &needed, txn, &request, &error);
  if (status) {
    FUZZ_ASSERT(status == PKS_INVALID_ARGUMENT || status == PKS_HELD);
    pks_txn_abort(txn);
    return;
  }
  FUZZ_ASSERT(needed);
  status = take(delivery, site, &error);
  if (!status) { status = pks_delivery_stage(NULL, delivery, &error); }
  FUZZ_ASSERT(!status || status == PKS_CORRUPT || pks__is_other_format(status) || status == PKS_NO_SPACE);
  if (status) {
    pks_delivery_close(delivery, false);
    pks_txn_abort(txn);
    return;
  }
  FUZZ_ASSERT(!pks_txn_commit(txn, &generation, &error));
  pks_delivery_close(delivery, true);
  check_store(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint64_t which = fuzz_take(&input, 1);
  site site = make_site(&input, &sites[(which & 3) % FUZZ_STORE_KINDS]);
  sim_disk *disk = sim_clone(takers[(which >> 2 & 3) % (FUZZ_STORE_KINDS + 1)]);
  pks_store *store = fuzz_open_store(disk);
  deliver(store, &site);
  pks_store_close(store);
  sim_counts counts = sim_counts_now(disk);
  FUZZ_ASSERT(counts.handles == 0 && counts.maps == 0 && counts.locks == 0);
  sim_free(disk);
  free_site(&site);
  return 0;
}
