/// A store with changed files: opened, listed, read, measured, compared, verified, written to.
///
/// Input: u8 store (low bits), whether to correct checksums up to the control file (64), whether to commit (128). Then
/// changes: u8 file, u8 kind, le24 position, u8 length, and a value for the kinds that need one.
///
/// With PACKSTORE_DUMP=FOLDER in the environment, the target writes the changed store there before using it, for other
/// readers.
#include "../fuzzing.h"

#include <sys/stat.h>

enum { CHANGES_MAX = 24, FILES_MAX = 64, FILE_MAX = 256 * 1024 };

typedef struct changed_file {
  char path[96];
  uint8_t *bytes;
  size_t length;
  bool changed;
} changed_file;

static sim_disk *stores[FUZZ_STORE_KINDS];
static char *listings[FUZZ_STORE_KINDS];

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count, (void)arguments;
  for (unsigned kind = 0; kind < FUZZ_STORE_KINDS; kind++) {
    stores[kind] = fuzz_make_store(kind);
    listings[kind] = sim_list(stores[kind], "/store");
  }
  return 0;
}

/// The files of the store, in order of their paths.
static size_t list_files(const char *listing, changed_file *files) {
  size_t count = 0;
  for (const char *line = listing; *line; line = strchr(line, '\n') + 1) {
    size_t length = (size_t)(strchr(line, '\n') - line);
    if (line[length - 1] == '/' || count == FILES_MAX) { continue; }
    files[count] = (changed_file){0};
    (void)snprintf(files[count].path, sizeof files[count].path, "/store/%.*s", (int)length, line);
    count++;
  }
  return count;
}

static void need(sim_disk *disk, changed_file *file) {
  if (!file->bytes) { file->bytes = sim_read_file(disk, file->path, &file->length); }
  FUZZ_ASSERT(file->bytes);
}

static void resize(changed_file *file, size_t length) {
  file->bytes = realloc(file->bytes, length > 0 ? length : 1);
  FUZZ_ASSERT(file->bytes);
  if (length > file->length) { memset(file->bytes + file->length, 0, length - file->length); }
  file->length = length;
}

static void change(fuzz_input *input, changed_file *file, const changed_file *other) {
  enum { SET, FLIP, ADD, ZERO, COPY, CUT, GROW, REPLACE, SET_NUMBER, KINDS };
  uint64_t what = fuzz_take(input, 1) % KINDS, where = fuzz_take(input, 3), much = fuzz_take(input, 1);
  file->changed = true;
  // The important part of a table begins with its last pages; both ends of a file are near zero.
  size_t at = file->length == 0 ? 0
    : where & 0x800000          ? (file->length - 1) - where % file->length
                                : where % file->length;
  size_t left = file->length - at, count = pks__min_size((size_t)much, left);
  switch (what) {
    case SET: {
      size_t got;
      const uint8_t *bytes = fuzz_take_bytes(input, pks__min_size(count, 16), &got);
      memcpy(file->bytes + at, bytes, got);
      break;
    }
    case FLIP:
      if (left > 0) { file->bytes[at] ^= (uint8_t)(1u << (much & 7)); }
      break;
    case ADD:
      if (left > 0) { file->bytes[at] = (uint8_t)(file->bytes[at] + much); }
      break;
    case ZERO: memset(file->bytes + at, 0, count); break;
    case COPY: memmove(file->bytes + at, file->bytes + fuzz_take(input, 3) % (file->length - count + 1), count); break;
    case CUT: resize(file, at); break;
    case GROW: resize(file, pks__min_size(file->length + (size_t)much * 16, FILE_MAX)); break;
    case REPLACE:
      resize(file, other->length);
      memcpy(file->bytes, other->bytes, other->length);
      break;
    case SET_NUMBER: {
      pks_le64 value = pks__put64(fuzz_take(input, 1 + much % 8));
      if (left >= sizeof value) { memcpy(file->bytes + at, &value, 1 + much % 8); }
      break;
    }
    default: break;
  }
}

static bool is_in(const changed_file *file, const char *text) { return strstr(file->path, text) != NULL; }

/// Corrects checksums in order of dependency: frames, tables, the generation that lists runs, then the control file.
static void put_sums_right(sim_disk *disk, changed_file *files, size_t count) {
  changed_file *control = NULL;
  for (size_t i = 0; i < count; i++) {
    if (is_in(&files[i], "/CONTROL")) { control = &files[i]; }
    if (!files[i].changed) { continue; }
    if (is_in(&files[i], "/segments/")) { fuzz_sum_frames(files[i].bytes, files[i].length); }
    if (is_in(&files[i], "/segments/") || is_in(&files[i], ".run")) { fuzz_sum_table(files[i].bytes, files[i].length); }
  }
  FUZZ_ASSERT(control);
  need(disk, control);
  for (size_t i = 0; i < count; i++) {
    changed_file *generation = &files[i];
    if (!is_in(generation, ".generation")) { continue; }
    need(disk, generation);
    // Runs follow at 32; byte 28 is their number. Each has name, length, checksum, then le32 numbers of packs.
    uint32_t runs = generation->length >= 32 ? generation->bytes[28] : 0;
    for (size_t at = 32; runs > 0 && at + 28 <= generation->length; runs--) {
      uint64_t name = 0;
      for (unsigned byte = 0; byte < 8; byte++) { name |= (uint64_t)generation->bytes[at + byte] << (8 * byte); }
      char path[PKS__INDEX_NAME];
      pks__run_path(name, path);
      for (size_t other = 0; other < count; other++) {
        if (!is_in(&files[other], path) || !files[other].changed || files[other].length < 64) { continue; }
        pks_le64 length = pks__put64(files[other].length);
        memcpy(generation->bytes + at + 8, &length, sizeof length);
        memcpy(generation->bytes + at + 16, files[other].bytes + files[other].length - 8, 8);
      }
      at += 28 + (size_t)4 * generation->bytes[at + 24];
    }
    fuzz_sum_generation(generation->bytes, generation->length);
    generation->changed = true;
    // The copies of the slot whose generation has this number.
    for (size_t slot = 0; slot + PKS__CONTROL_COPY_SIZE <= control->length; slot += PKS__CONTROL_COPY_SIZE) {
      uint64_t number = 0;
      for (unsigned byte = 0; byte < 8; byte++) { number |= (uint64_t)control->bytes[slot + 32 + byte] << (8 * byte); }
      char path[PKS__INDEX_NAME];
      pks__generation_path(number, path);
      if (!is_in(generation, path)) { continue; }
      pks_le64 length = pks__put64(generation->length);
      pks_le64 sum = pks__put64(pks__checksum(generation->bytes, generation->length));
      memcpy(control->bytes + slot + 40, &length, sizeof length);
      memcpy(control->bytes + slot + 48, &sum, sizeof sum);
    }
  }
  fuzz_sum_control(control->bytes, control->length);
  control->changed = true;
}

static void dump(sim_disk *disk, const char *listing, const char *folder) {
  changed_file files[FILES_MAX];
  size_t count = list_files(listing, files);
  char path[4096];
  static const char *const folders[] = {"", "/index", "/segments", "/tmp"};
  for (size_t i = 0; i < PKS_COUNT_OF(folders); i++) {
    (void)snprintf(path, sizeof path, "%s%s", folder, folders[i]);
    (void)mkdir(path, 0777);
  }
  for (size_t i = 0; i < count; i++) {
    need(disk, &files[i]);
    (void)snprintf(path, sizeof path, "%s%s", folder, files[i].path + strlen("/store"));
    FILE *file = fopen(path, "wb");
    FUZZ_ASSERT(file && fwrite(files[i].bytes, 1, files[i].length, file) == files[i].length && fclose(file) == 0);
    free(files[i].bytes);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint64_t flags = fuzz_take(&input, 1);
  unsigned kind = (unsigned)(flags & 63) % FUZZ_STORE_KINDS;
  changed_file files[FILES_MAX];
  size_t count = list_files(listings[kind], files);
  sim_disk *disk = sim_clone(stores[kind]);
  for (unsigned i = 0; i < CHANGES_MAX && input.left > 0; i++) {
    changed_file *file = &files[fuzz_take(&input, 1) % count], *other = &files[(i * 7 + 1) % count];
    need(disk, file);
    need(disk, other);
    change(&input, file, other);
  }
  if (flags & 64) { put_sums_right(disk, files, count); }
  for (size_t i = 0; i < count; i++) {
    if (files[i].changed) { sim_put_file(disk, files[i].path, files[i].bytes, files[i].length); }
    free(files[i].bytes);
  }
  const char *folder = getenv("PACKSTORE_DUMP");
  if (folder) { dump(disk, listings[kind], folder); }
  uint64_t open = pks__memory_counts_now().open;
  fuzz_use_store(disk, flags & 128);
  FUZZ_ASSERT(pks__memory_counts_now().open == open);
  sim_free(disk);
  return 0;
}
