/// Writes the initial inputs of fuzzing: files of stores that the core made, divided as each target expects.
///
///     seeds FOLDER
#include "fuzzing.h"
#include "transfer/change_list.h"

#include <dirent.h>
#include <sys/stat.h>

static const char *root;

/// An input of a target, built from parts.
typedef struct seed {
  uint8_t *bytes;
  size_t length;
} seed;

static void append(seed *seed, const void *bytes, size_t byte_count) {
  seed->bytes = realloc(seed->bytes, seed->length + byte_count + 1);
  FUZZ_ASSERT(seed->bytes);
  if (byte_count > 0) { memcpy(seed->bytes + seed->length, bytes, byte_count); }
  seed->length += byte_count;
}

static void append_number(seed *seed, uint64_t value, size_t byte_count) {
  pks_le64 stored = pks__put64(value);
  append(seed, &stored, byte_count);
}

/// Writes the input to a file and empties it.
static void put(seed *seed, const char *target) {
  static unsigned number;
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", root, target);
  (void)mkdir(path, 0777);
  (void)snprintf(path, sizeof path, "%s/%s/seed-%u", root, target, number++);
  FILE *file = fopen(path, "wb");
  FUZZ_ASSERT(file && fwrite(seed->bytes, 1, seed->length, file) == seed->length && fclose(file) == 0);
  free(seed->bytes);
  *seed = (struct seed){0};
}

// MARK: - Files of a store

static void cut_control(const uint8_t *bytes, size_t length) {
  FUZZ_ASSERT(length == PKS__CONTROL_SIZE);
  for (unsigned sums = 0; sums < 16; sums++) {
    seed seed = {0};
    append_number(&seed, sums, 1);
    append_number(&seed, sums % 4, 1);
    for (size_t at = 0; at < length; at += PKS__CONTROL_COPY_SIZE) { append(&seed, bytes + at, 88); }
    append_number(&seed, 9000, 2);
    put(&seed, "control");
  }
}

/// The path key of the store: its generation is read before its runs.
static uint8_t path_key[PKS__PATH_KEY_SIZE];

static void cut_generation(const uint8_t *bytes, size_t length) {
  seed seed = {0};
  append_number(&seed, 1, 1);
  append(&seed, bytes, length);
  put(&seed, "generation");
  pks__generation generation;
  FUZZ_ASSERT(!pks__generation_decode(bytes, length, "generation", &generation, NULL));
  memcpy(path_key, generation.path_key, sizeof path_key);
  pks__generation_free(&generation);
}

static void cut_table(const uint8_t *bytes, size_t length, unsigned flags) {
  if (length > 24 * 1024) { return; }
  seed seed = {0};
  append_number(&seed, flags, 1);
  append_number(&seed, 100, 2);
  append_number(&seed, 4200, 2);
  append(&seed, bytes, length);
  put(&seed, "table");
}

static uint64_t number_at(const uint8_t *bytes) {
  pks_le64 stored;
  memcpy(&stored, bytes, sizeof stored);
  return pks__get64(stored);
}

/// Removes the zeros at the end of a body.
static size_t body_length(const uint8_t *body, uint64_t length) {
  while (length > 0 && body[length - 1] == 0) { length--; }
  return (size_t)length;
}

static void cut_run(const uint8_t *bytes, size_t length) {
  seed seed = {0};
  append_number(&seed, 0x1234, 2);
  append(&seed, path_key, sizeof path_key);
  append(&seed, bytes, body_length(bytes, number_at(bytes + length - 40)));
  put(&seed, "run");
  cut_table(bytes, length, 3);
}

static void cut_segment_whole(const uint8_t *bytes, size_t length) {
  uint64_t body = number_at(bytes + length - 48), body_size = number_at(bytes + length - 40);
  if (body > 65535) { return; }
  seed seed = {0};
  append_number(&seed, 1, 1);
  append_number(&seed, body, 2);
  append(&seed, bytes, (size_t)body);
  append(&seed, bytes + body, body_length(bytes + body, body_size));
  put(&seed, "segment");
  cut_table(bytes, length, 1);
}

// MARK: - Pages and frames

static seed pages;

static void add_page(const pks__id *id, const uint8_t *page, size_t length) {
  append(&pages, id, 4);
  append_number(&pages, length, 2);
  append(&pages, page, length);
}

enum { INPUT_MAX = 12 * 1024 };  ///< libFuzzer tries short inputs more often

/// Writes the page `id` first, then other pages.
static void put_pages(const char *target, const pks__id *id, const uint8_t *front, size_t front_length) {
  seed seed = {0};
  append(&seed, front, front_length);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t at = 0; at < pages.length;) {
      size_t length = 6 + pages.bytes[at + 4] + ((size_t)pages.bytes[at + 5] << 8);
      bool is_first = memcmp(pages.bytes + at, id, 4) == 0;
      if (is_first == (pass == 0) && (is_first || seed.length + length <= INPUT_MAX)) {
        append(&seed, pages.bytes + at, length);
      }
      at += length;
    }
  }
  put(&seed, target);
}

static void put_tree(const pks__id *id, const uint8_t *page) {
  uint8_t front[3] = {page[0], page[1], page[2]};
  put_pages("tree", id, front, sizeof front);
}

/// Writes a dictionary with a frame that needs it.
static void put_dictionary(pks__segment *segment, const pks__frame *frame) {
  pks__stored_dictionary stored;
  pks__scratch bytes = {0};
  bool decodes;
  FUZZ_ASSERT(!pks__stored_dictionary_read(segment, frame->ref.codec, &bytes, &stored, NULL));
  uint8_t *raw = malloc(stored.raw_length), *encoded = malloc(frame->ref.stored_length);
  FUZZ_ASSERT(raw && encoded);
  FUZZ_ASSERT(
    !pks__dictionary_decode(stored.codec, stored.stored, stored.stored_length, raw, stored.raw_length, &decodes, NULL)
  );
  FUZZ_ASSERT(!pks__segment_read(segment, frame->ref.offset, frame->ref.stored_length, encoded, NULL));
  seed seed = {0};
  append_number(&seed, stored.raw_length, 2);
  append_number(&seed, frame->ref.raw_length, 3);
  append(&seed, raw, stored.raw_length);
  append(&seed, encoded, frame->ref.stored_length);
  put(&seed, "dictionary");
  free(raw);
  free(encoded);
  pks__scratch_free(&bytes);
}

/// Writes frames for the codec, and adds pages of metadata segments to `pages`.
static void cut_frames(pks__segment *segment, pks__frame_reader *reader) {
  FUZZ_ASSERT(!pks__segment_need_table(segment, NULL));
  for (uint32_t i = 0; i < segment->frame_count; i++) {
    pks__frame frame;
    const uint8_t *raw;
    FUZZ_ASSERT(!pks__segment_frame(segment, i, &frame, NULL));
    pks__frame_source source = {segment, frame.ref};
    FUZZ_ASSERT(!pks__frame_decode(reader, &source, &raw, NULL));
    if (segment->kind == PKS__SEGMENT_METADATA) { add_page(&segment->ids[i], raw, frame.ref.raw_length); }
    if (pks__codec_has_dictionary(frame.ref.codec)) { put_dictionary(segment, &frame); }
    if (frame.ref.codec != PKS__CODEC_ZSTD || i % 8 != 0) { continue; }
    uint8_t *stored = malloc(frame.ref.stored_length);
    FUZZ_ASSERT(stored && !pks__segment_read(segment, frame.ref.offset, frame.ref.stored_length, stored, NULL));
    seed seed = {0};
    append_number(&seed, frame.ref.raw_length, 3);
    append(&seed, stored, frame.ref.stored_length);
    put(&seed, "codec");
    free(stored);
  }
}

static bool append_piece(void *context, const void *bytes, size_t byte_count) {
  append(context, bytes, byte_count);
  return true;
}

static void put_frame_table(pks__segment *segment) {
  seed seed = {0};
  FUZZ_ASSERT(!pks__frame_table_write(segment, pkh_sha256, NULL, append_piece, &seed, NULL));
  put(&seed, "frame_table");
}

static void cut_segment(sim_disk *disk, const char *path, const uint8_t *bytes, size_t length) {
  const pks_vfs *vfs = sim_vfs(disk);
  pks__frame_readers readers;
  pks__frame_reader *reader;
  FUZZ_ASSERT(!pks__frame_readers_open(&readers, pkh_sha256, NULL));
  pks__segment *segment;
  pks__segment_id id;
  pks_vfs_file folder;
  FUZZ_ASSERT(pks__segment_name_parse(strrchr(path, '/') + 1, &id));
  FUZZ_ASSERT(!vfs->open_root(vfs->context, "/store", false, &folder));
  FUZZ_ASSERT(!pks__segment_open(&segment, vfs, folder, path + strlen("/store/"), &id, NULL));
  FUZZ_ASSERT(!pks__frame_reader_take(&readers, &reader, NULL));
  cut_frames(segment, reader);
  put_frame_table(segment);
  pks__frame_reader_return(&readers, reader);
  pks__frame_readers_close(&readers);
  pks__segment_close(segment);
  vfs->close(vfs->context, folder);
  cut_segment_whole(bytes, length);
}

// MARK: - All

static void cut_file(sim_disk *disk, const char *path) {
  size_t length;
  uint8_t *bytes = sim_read_file(disk, path, &length);
  FUZZ_ASSERT(bytes);
  if (strstr(path, "/CONTROL")) { cut_control(bytes, length); }
  if (strstr(path, ".generation")) { cut_generation(bytes, length); }
  if (strstr(path, ".run")) { cut_run(bytes, length); }
  if (strstr(path, "/segments/")) { cut_segment(disk, path, bytes, length); }
  free(bytes);
}

static void cut_store(unsigned kind) {
  sim_disk *disk = fuzz_make_store(kind);
  char *listing = sim_list(disk, "/store"), path[256];
  for (char *line = strtok(listing, "\n"); line; line = strtok(NULL, "\n")) {
    (void)snprintf(path, sizeof path, "/store/%s", line);
    if (line[strlen(line) - 1] != '/') { cut_file(disk, path); }
  }
  free(listing);
  for (size_t at = 0; at < pages.length;) {
    size_t length = pages.bytes[at + 4] + ((size_t)pages.bytes[at + 5] << 8);
    const uint8_t *page = pages.bytes + at + 6;
    pks__id id;
    memcpy(&id, pages.bytes + at, 4);
    if (length >= 8 && memcmp(page, "PKS", 3) == 0) {
      put_pages("catalog", &id, NULL, 0);
    } else {
      put_tree(&id, page);
    }
    at += 6 + length;
  }
  free(pages.bytes);
  pages = (seed){0};
  sim_free(disk);
}

static void put_text(const char *target, const char *text) {
  seed seed = {0};
  append(&seed, text, strlen(text));
  put(&seed, target);
}

static void put_glob(const char *pattern, const char *path) {
  seed seed = {0};
  append_number(&seed, strlen(pattern), 1);
  append(&seed, pattern, strlen(pattern));
  append(&seed, path, strlen(path));
  put(&seed, "glob");
}

static void put_texts(void) {
  static const char *const names[] = {
    "levels/1/map.txt",
    "a//b",
    "../up",
    "./here",
    "\xc3\xa9t\xc3\xa9",
    "\xed\xa0\x80",
    "\xf0\x9f\x8e\xae/x",
    "0123456789abcdef",
    "0123456789abcdef0123456789abcdef",
    "Pack-1_2.3",
    ".hidden",
    "\x80\x01",
    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
  };
  for (size_t i = 0; i < PKS_COUNT_OF(names); i++) { put_text("names", names[i]); }
  put_glob("*.map", "a/b/texture.map");
  put_glob("**/x?y[a-z]", "a/xxyb");
  put_glob("/levels/[!a]*/**", "levels/1/2/3");
  put_glob("\\*plain", "a/*plain");
  put_glob("**a**b**c**", "aaaaaabbbbbbccccccc");
}

static void put_chunks(void) {
  uint64_t state = 5;
  for (unsigned average = 0; average < 3; average++) {
    seed seed = {0};
    append_number(&seed, average, 1);
    for (unsigned i = 0; i < 1500; i++) { append_number(&seed, i % 500 < 200 ? 0 : sim_next_random(&state), 8); }
    put(&seed, "chunker");
  }
}

/// Writes messages that fill the lanes, with lengths around block boundaries, and one long message.
static void put_messages(void) {
  uint64_t state = 6;
  for (unsigned count = 1; count <= 40; count += 13) {
    seed seed = {0};
    append_number(&seed, count, 1);
    for (unsigned i = 0; i < count; i++) { append_number(&seed, i == 3 ? 3000 : 50 + 9 * i, 2); }
    append_number(&seed, 3, 1);
    append(&seed, "\x40\x01\x7f", 3);
    for (unsigned i = 0; i < 375; i++) { append_number(&seed, sim_next_random(&state), 8); }
    put(&seed, "hash");
  }
}

static void put_cache_files(void) {
  static const uint8_t content[] = "what is in the cache";
  for (unsigned flags = 0; flags < 4; flags++) {
    seed seed = {0};
    append_number(&seed, flags, 1);
    append_number(&seed, sizeof content, 2);
    append_number(&seed, 32, 2);
    append(&seed, "PKSSUMS", 8);
    append_number(&seed, sizeof content, 8);
    append_number(&seed, 0, 8);
    append_number(&seed, 0, 8);
    append(&seed, content, sizeof content);
    put(&seed, "cache");
  }
}

/// Writes changes of stores: one of each kind, each in a different file, with and without checksums and commits.
static void put_changes(void) {
  for (unsigned kind = 0; kind < FUZZ_STORE_KINDS; kind++) {
    for (unsigned flags = 0; flags < 4; flags++) {
      for (unsigned file = flags; file < 14; file += 4) {
        seed seed = {0};
        append_number(&seed, kind | flags << 6, 1);
        append_number(&seed, file, 1);
        append_number(&seed, file + flags, 1);
        append_number(&seed, (uint64_t)file * 97 + (file % 2 ? 0x800000 : 0), 3);
        append_number(&seed, 3 + file, 1);
        append_number(&seed, 0x0102030405060708, 8);
        put(&seed, "store");
      }
    }
  }
}

// MARK: - Deltas

static int append_delta(void *context, uint64_t offset, const void *bytes, size_t byte_count) {
  seed *delta = context;
  while (delta->length < offset + byte_count) { append_number(delta, 0, 1); }
  memcpy(delta->bytes + offset, bytes, byte_count);
  return 0;
}

/// Divides a delta into the parts from which the target rebuilds it, because the target may change its description.
static void put_parts(const seed *delta, unsigned flags) {
  uint32_t length;
  pks__delta_header header;
  pks__scratch rows = {0};
  const pks__delta_block *blocks;
  seed seed = {0};
  FUZZ_ASSERT(!pks__delta_read_length(delta->bytes, "delta", &length, NULL));
  FUZZ_ASSERT(!pks__delta_read_header(delta->bytes, length, "delta", &header, &rows, &blocks, NULL));
  append_number(&seed, flags, 1);
  const uint64_t counts[] = {header.file_count, header.link_count, header.folder_count, header.logical_bytes};
  for (size_t i = 0; i < PKS_COUNT_OF(counts); i++) { append_number(&seed, counts[i], 4); }
  append(&seed, &header.to_catalog, sizeof header.to_catalog);
  size_t offset = header.blocks_offset;
  for (uint32_t i = 0; i < header.part_count + header.group_count; i++) {
    uint32_t stored_length = pks__get32(blocks[i].stored_length), raw_length = pks__get32(blocks[i].raw_length);
    uint8_t *raw = malloc(raw_length);
    const uint8_t *bytes = delta->bytes + offset;
    pks__decoder *decoder = pks__decoder_create();
    FUZZ_ASSERT(raw && decoder);
    if (i >= header.part_count) {
      append_number(&seed, raw_length, 4);
    } else {
      bool decodes;
      FUZZ_ASSERT(!pks__delta_part_decode(decoder, bytes, stored_length, raw, raw_length, &decodes, NULL) && decodes);
      bytes = raw;
    }
    append_number(&seed, i < header.part_count ? raw_length : stored_length, 2);
    append(&seed, bytes, i < header.part_count ? raw_length : stored_length);
    pks__decoder_destroy(decoder);
    free(raw);
    offset += stored_length;
  }
  pks__scratch_free(&rows);
  put(&seed, "delta");
}

static void put_deltas(void) {
  sim_disk *disk = fuzz_make_store(1);
  pks_store *store = fuzz_open_store(disk);
  pks_snapshot *snapshot;
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  for (uint64_t from = 1; from <= 2; from++) {
    seed delta = {0}, file = {0};
    pks_delta_request request = {
      .pack = "Example", .from = from, .to = 3 - from, .level = 9, .context = &delta, .write = append_delta};
    pks_delta_info info;
    FUZZ_ASSERT(!pks_delta_build(&info, snapshot, &request, NULL));
    for (unsigned flags = 1; flags < 64; flags += 2) {
      append_number(&file, flags, 1);
      append(&file, delta.bytes, delta.length);
      put(&file, "delta");
    }
    for (unsigned flags = from == 1 ? 4 : 0; flags < 128; flags += 8) { put_parts(&delta, flags); }
    free(delta.bytes);
  }
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  sim_free(disk);
}

/// Writes deltas from version 2 to a third version in which a part of the noise is replaced by zeros, or is removed. Their groups
/// are copies with and without literals.
static void put_copied_deltas(void) {
  enum { AT = 1000, COUNT = 40 };
  static const char noise[] = "/s/levels/1/noise";
  for (int removes = 0; removes < 2; removes++) {
    sim_disk *disk = fuzz_make_store(1);
    pks_store *store = fuzz_open_store(disk);
    size_t length;
    uint8_t *bytes = sim_read_file(disk, noise, &length);
    FUZZ_ASSERT(bytes && length > 2 * AT);
    memset(bytes + AT, 0, COUNT);
    if (removes) {
      length -= COUNT;
      memmove(bytes + AT, bytes + AT + COUNT, length - AT);
    }
    sim_put_file(disk, noise, bytes, length);
    pks_add_request add = {.pack = "Example", .folder = "/s"};
    pks_add_result result;
    pks_txn *txn;
    pks_snapshot *snapshot;
    FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
    FUZZ_ASSERT(!pks_txn_add_folder(&result, txn, &add, NULL));
    FUZZ_ASSERT(!pks_txn_commit(txn, NULL, NULL));
    FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
    seed delta = {0}, file = {0};
    pks_delta_info info;
    pks_delta_request request = {
      .pack = "Example", .from = 2, .to = 3, .level = PKS_DELTA_LEVEL, .context = &delta, .write = append_delta};
    FUZZ_ASSERT(!pks_delta_build(&info, snapshot, &request, NULL));
    for (unsigned flags = 1; flags < 4; flags += 2) {
      append_number(&file, flags, 1);
      append(&file, delta.bytes, delta.length);
      put(&file, "delta");
    }
    for (unsigned flags = 0; flags < 32; flags += 8) { put_parts(&delta, flags); }
    free(delta.bytes);
    free(bytes);
    pks_snapshot_close(snapshot);
    pks_store_close(store);
    sim_free(disk);
  }
}

// MARK: - Change lists

static bool append_list(void *context, const void *bytes, size_t byte_count) {
  append(context, bytes, byte_count);
  return true;
}

/// Divides a change list into the parts from which the target rebuilds it.
static void put_list_parts(const seed *bytes, unsigned flags) {
  pks__change_list list;
  pks__scratch body = {0};
  pks__decoder *decoder = pks__decoder_create();
  seed seed = {0};
  FUZZ_ASSERT(decoder && !pks__change_list_read(&list, bytes->bytes, bytes->length, "list", NULL));
  FUZZ_ASSERT(!pks__change_list_decode(&list, decoder, &body, "list", NULL));
  append_number(&seed, flags, 1);
  const uint64_t counts[] = {list.file_count, list.link_count, list.folder_count, list.logical_bytes, list.new_bytes};
  for (size_t i = 0; i < PKS_COUNT_OF(counts); i++) { append_number(&seed, counts[i], 4); }
  append(&seed, &list.to, sizeof list.to);
  append_number(&seed, list.description_length, 2);
  append(&seed, body.bytes, list.description_length);
  append_number(&seed, list.chunk_count, 1);
  append(&seed, body.bytes + list.description_length, (size_t)body.length - list.description_length);
  put(&seed, "change_list");
  pks__scratch_free(&body);
  pks__decoder_destroy(decoder);
}

static void put_change_lists(void) {
  sim_disk *disk = fuzz_make_store(1);
  pks_store *store = fuzz_open_store(disk);
  pks_snapshot *snapshot;
  FUZZ_ASSERT(!pks_snapshot_open(&snapshot, store, NULL));
  uint32_t pack = fuzz_find_pack(snapshot);
  for (uint64_t from = 1; from <= 2; from++) {
    seed list = {0}, file = {0};
    pks_change_lister *lister;
    FUZZ_ASSERT(!pks_change_lister_open(&lister, snapshot, pack, 3 - from, NULL));
    FUZZ_ASSERT(!pks_change_lister_list(lister, from, append_list, &list, NULL));
    pks_change_lister_close(lister);
    for (unsigned flags = 1; flags < 16; flags += 2) {
      append_number(&file, flags, 1);
      append(&file, list.bytes, list.length);
      put(&file, "change_list");
    }
    for (unsigned flags = from == 1 ? 4 : 0; flags < 16; flags += 8) { put_list_parts(&list, flags); }
    free(list.bytes);
  }
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  sim_free(disk);
}

// MARK: - Deliveries

/// Writes sites of each kind for stores of each kind, unchanged and with single changes.
static void put_deliveries(void) {
  for (unsigned which = 0; which < 16; which++) {
    for (unsigned page = 0; page < 4; page++) {
      seed seed = {0};
      append_number(&seed, which, 1);
      for (unsigned i = 0; i < page; i++) {
        append_number(&seed, i == 2 ? 200 : 3 * i + which, 1);
        append_number(&seed, 7919u * (page + i) % 60000u, 4);
      }
      put(&seed, "delivery");
    }
  }
}

int main(int count, char **arguments) {
  if (count != 2) {
    (void)fprintf(stderr, "usage: seeds FOLDER\n");
    return 2;
  }
  root = arguments[1];
  for (unsigned kind = 0; kind < FUZZ_STORE_KINDS; kind++) { cut_store(kind); }
  put_texts();
  put_chunks();
  put_messages();
  put_cache_files();
  put_changes();
  put_deltas();
  put_copied_deltas();
  put_change_lists();
  put_deliveries();
  return 0;
}
