#include "ingest/folder_scan.h"

#include <errno.h>

#include "base/sort.h"
#include "codec/checksum.h"
#include "format/glob.h"
#include "format/hash_map.h"
#include "ingest/selection_scan.h"
#include "ingest/source_probe.h"

/// A name in a folder that is being listed.
typedef struct listed {
  uint64_t name;  ///< offset in the names
  uint32_t length;
  uint8_t kind;  ///< pks_vfs_kind
  bool executable;
  uint64_t size;
} listed;

/// A folder on the way down to the present one.
typedef struct level {
  uint64_t names_begin;  ///< the names and entries of this folder and below are dropped when it is done
  uint64_t entries_begin;
  uint64_t next;          ///< entry to visit next
  uint64_t items_before;  ///< to see whether anything was in it
  size_t path_length;
  uint64_t device, inode;
} level;

typedef struct scan {
  pks__folder_scan *source;
  pks__source_probe *probe;
  const pks_vfs_info *own;
  pks__scratch names, entries, levels;
  pks_vfs_file folder;           ///< the folder being listed
  char path[PKS__PATH_MAX + 3];  ///< room for "/."
  size_t path_length;
  pks_status status;
  pks_error *error;
} scan;

static void notice(scan *scan, pks_notice kind, int system_error) {
  pks__source_probe_notice(scan->probe, kind, scan->path, scan->path_length, system_error);
}

/// Where the present path is.
static pks__source_place place_of(const scan *scan) {
  return (pks__source_place
  ){.folder = scan->source->root, .name = scan->path, .path = scan->path, .path_length = scan->path_length};
}

// MARK: - Listing one folder

/// Puts `name` behind the present folder's path; false (and a notice) when the whole is too long.
static bool push_name(scan *scan, const char *name, size_t length, size_t *before) {
  *before = scan->path_length;
  size_t slash = scan->path_length > 0;
  if (scan->path_length + slash + length > PKS__PATH_MAX) {
    notice(scan, PKS_NOTICE_BAD_NAME, ENAMETOOLONG);
    return false;
  }
  if (slash) { scan->path[scan->path_length] = '/'; }
  memcpy(scan->path + scan->path_length + slash, name, length);
  scan->path_length += slash + length;
  scan->path[scan->path_length] = 0;
  return true;
}

static void pop_name(scan *scan, size_t before) {
  scan->path_length = before;
  scan->path[before] = 0;
}

static bool visit_name(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  scan *scan = context;
  listed entry = {.name = scan->names.length, .length = (uint32_t)length, .kind = (uint8_t)kind};
  scan->status = pks__scratch_append(&scan->names, name, length, scan->error);
  if (!scan->status) { scan->status = pks__scratch_append(&scan->entries, &entry, sizeof entry, scan->error); }
  return scan->status == PKS_OK;
}

/// Examines the entry; with PKS_LINKS_FOLLOW, the target of a link. Returns false if it is skipped.
static bool examine(scan *scan, listed *entry) {
  pks__source_place place = place_of(scan);
  // One step instead of one for each folder on the way.
  place.folder = scan->folder;
  place.name = scan->path + scan->path_length - entry->length;
  pks_vfs_info info;
  bool followed;
  if (!pks__source_probe_examine(scan->probe, &place, &info, &followed)) { return false; }
  bool is_own = info.kind == PKS_VFS_KIND_FOLDER && info.device == scan->own->device && info.inode == scan->own->inode;
  if (info.kind == PKS_VFS_KIND_OTHER || is_own) {
    notice(scan, is_own ? PKS_NOTICE_OWN_STORE : PKS_NOTICE_SKIPPED, 0);
    return false;
  }
  entry->kind = (uint8_t)info.kind;
  entry->executable = info.executable;
  entry->size = info.size;
  return true;
}

/// Bytewise order of the paths that the entries lead to: a folder counts as its name and a slash.
static int compare_entries(const scan *scan, const listed *a, const listed *b) {
  const char *names = (const char *)scan->names.bytes;
  size_t shared = pks__min_size(a->length, b->length);
  int order = memcmp(names + a->name, names + b->name, shared);
  if (order != 0) { return order; }
  int a_next = a->length > shared ? (unsigned char)names[a->name + shared] : a->kind == PKS_VFS_KIND_FOLDER ? '/' : -1;
  int b_next = b->length > shared ? (unsigned char)names[b->name + shared] : b->kind == PKS_VFS_KIND_FOLDER ? '/' : -1;
  return a_next - b_next;
}

static bool comes_before(const void *context, const void *a, const void *b) {
  return compare_entries(context, a, b) < 0;
}

/// The folding of an entry's name, whose bytes go to `out`.
static size_t fold(const scan *scan, const listed *entry, char *out) {
  return pks_fold_name((const char *)scan->names.bytes + entry->name, entry->length, out);
}

/// The first of the entries in the map whose name has the same folding; NULL if none.
static const listed *find_twin(
  const scan *scan, const pks__hash_map *map, uint64_t key, const char *folded, size_t length
) {
  char other[PKS_FOLDED_NAME_MAX];
  uint64_t probe = 0;
  uint32_t index;
  while (pks__hash_map_next(map, key, &probe, &index)) {
    const listed *entry = PKS__SCRATCH_AT(&scan->entries, const listed, index);
    if (fold(scan, entry, other) == length && memcmp(other, folded, length) == 0) { return entry; }
  }
  return NULL;
}

static void report_twin(scan *scan, const listed *entry, const listed *other) {
  const char *names = (const char *)scan->names.bytes;
  char path[PKS__PATH_MAX + 3];
  size_t before, length;
  if (!push_name(scan, names + other->name, other->length, &before)) { return; }
  length = scan->path_length;
  memcpy(path, scan->path, length);
  pop_name(scan, before);
  if (!push_name(scan, names + entry->name, entry->length, &before)) { return; }
  pks__source_probe_twin(scan->probe, scan->path, scan->path_length, path, length);
  pop_name(scan, before);
}

/// Reports entries [begin, end) whose names have the folding of an earlier one.
static pks_status find_twins(scan *scan, uint64_t begin, uint64_t end) {
  pks__hash_map map;
  pks__hash_map_init(&map, scan->names.home);
  pks_status status = PKS_OK;
  for (uint64_t i = begin; !status && i < end; i++) {
    const listed *entry = PKS__SCRATCH_AT(&scan->entries, listed, i);
    char folded[PKS_FOLDED_NAME_MAX];
    size_t length = fold(scan, entry, folded);
    uint64_t key = pks__hash_map_key(&map, folded, length);
    const listed *twin = find_twin(scan, &map, key, folded, length);
    if (twin) {
      report_twin(scan, entry, twin);
    } else {
      status = pks__hash_map_insert(&map, key, (uint32_t)i, scan->error);
    }
  }
  pks__hash_map_free(&map);
  return status;
}

/// Whether the caller skips the current path.
static bool is_skipped(const scan *scan, uint8_t kind) {
  const pks_add_request *request = scan->probe->request;
  return request->skip && request->skip(request->context, scan->path, scan->path_length, kind == PKS_VFS_KIND_FOLDER);
}

/// Whether an entry is stored, and its kind. A skipped entry is not examined if the listing contains its kind.
static bool is_kept(scan *scan, listed *entry) {
  uint8_t listed_kind = entry->kind;
  bool is_known = listed_kind != PKS_VFS_KIND_OTHER;
  if (is_known && is_skipped(scan, listed_kind)) { return false; }
  if (!examine(scan, entry)) { return false; }
  return (is_known && entry->kind == listed_kind) || !is_skipped(scan, entry->kind);
}

/// Keeps the entries from `begin` on that can be stored, with their kinds.
static void examine_all(scan *scan, uint64_t begin) {
  uint64_t kept = begin, end = PKS__SCRATCH_COUNT(&scan->entries, listed);
  for (uint64_t i = begin; i < end; i++) {
    listed entry = *PKS__SCRATCH_AT(&scan->entries, listed, i);
    const char *name = (const char *)scan->names.bytes + entry.name;
    size_t before;
    if (!push_name(scan, name, entry.length, &before)) { continue; }
    bool good = pks__path_is_valid(name, entry.length) && !memchr(name, '/', entry.length);
    if (!good && !is_skipped(scan, entry.kind)) { notice(scan, PKS_NOTICE_BAD_NAME, EILSEQ); }
    if (good && is_kept(scan, &entry)) { *PKS__SCRATCH_AT(&scan->entries, listed, kept++) = entry; }
    pop_name(scan, before);
  }
  scan->entries.length = kept * sizeof(listed);
}

/// Lists the folder at `path` and makes it the present one.
static pks_status enter_folder(scan *scan) {
  pks__folder_scan *source = scan->source;
  level here = {
    .names_begin = scan->names.length,
    .entries_begin = PKS__SCRATCH_COUNT(&scan->entries, listed),
    .next = PKS__SCRATCH_COUNT(&scan->entries, listed),
    .items_before = pks__entry_list_count(source->listing),
    .path_length = scan->path_length,
  };
  pks_vfs_file folder = PKS_VFS_NO_FILE;
  pks_vfs_info info = {0};
  const char *path = scan->path_length > 0 ? scan->path : ".";
  pks_vfs_open_mode mode = source->follows ? PKS_VFS_OPEN_FOLDER_FOLLOW : PKS_VFS_OPEN_FOLDER;
  int failure = pks__vfs_open(source->vfs, source->root, path, mode, &folder);
  if (!failure) {
    failure = pks__vfs_info_of(source->vfs, folder, &info);
    if (!failure) { failure = pks__vfs_list(source->vfs, folder, visit_name, scan); }
    scan->folder = folder;
    if (!scan->status) { examine_all(scan, here.entries_begin); }
    pks__vfs_close(source->vfs, folder);
  }
  if (scan->status) { return scan->status; }
  if (failure) { notice(scan, PKS_NOTICE_UNREADABLE, failure); }
  here.device = info.device;
  here.inode = info.inode;
  uint64_t end = PKS__SCRATCH_COUNT(&scan->entries, listed);
  listed *entries = PKS__SCRATCH_AT(&scan->entries, listed, here.entries_begin);
  pks__sort(entries, end - here.entries_begin, sizeof *entries, comes_before, scan);
  for (uint64_t i = here.entries_begin + 1; i < end; i++) {
    const listed *a = PKS__SCRATCH_AT(&scan->entries, listed, i - 1), *b = a + 1;
    const char *names = (const char *)scan->names.bytes;
    if (a->length == b->length && memcmp(names + a->name, names + b->name, a->length) == 0) {
      const char *text = "changed while it was listed";
      return pks__fail_about(scan->error, PKS_SOURCE_CHANGED, PKS_DETAIL_NONE, PKS_SUBJECT_FOLDER, scan->path, text);
    }
  }
  pks_status status = find_twins(scan, here.entries_begin, end);
  return status ? status : pks__scratch_append(&scan->levels, &here, sizeof here, scan->error);
}

// MARK: - Items

/// Adds an item for the present path.
static pks_status add_item(scan *scan, const pks_vfs_info *info) {
  pks__source_place place = place_of(scan);
  return pks__source_probe_add(
    scan->probe, &place, info, scan->source->listing, scan->path, scan->path_length, scan->error
  );
}

/// Whether following links has led back to a folder that the walk is in.
static bool is_loop(const scan *scan, uint64_t device, uint64_t inode) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&scan->levels, level); i++) {
    const level *above = PKS__SCRATCH_AT(&scan->levels, level, i);
    if (above->device == device && above->inode == inode) { return true; }
  }
  return false;
}

static pks_status visit_folder(scan *scan) {
  if (scan->source->follows) {
    pks_vfs_info info;
    const pks_vfs *vfs = scan->source->vfs;
    int failure = pks__vfs_info(vfs, scan->source->root, scan->path, true, &info);
    if (failure || is_loop(scan, info.device, info.inode)) {
      notice(scan, PKS_NOTICE_LINK_LOOP, failure ? failure : ELOOP);
      return PKS_OK;
    }
  }
  if (PKS__SCRATCH_COUNT(&scan->levels, level) >= PKS__DEPTH_MAX) {
    notice(scan, PKS_NOTICE_BAD_NAME, ENAMETOOLONG);
    return PKS_OK;
  }
  return enter_folder(scan);
}

/// Leaves the present folder. One in which nothing was found is an item itself.
static pks_status leave_folder(scan *scan) {
  level here = *PKS__SCRATCH_AT(&scan->levels, level, PKS__SCRATCH_COUNT(&scan->levels, level) - 1);
  scan->levels.length -= sizeof here;
  scan->names.length = here.names_begin;
  scan->entries.length = here.entries_begin * sizeof(listed);
  pks_status status = PKS_OK;
  if (scan->path_length > 0 && pks__entry_list_count(scan->source->listing) == here.items_before) {
    status = add_item(scan, &(pks_vfs_info){.kind = PKS_VFS_KIND_FOLDER});
    // Its children would be sorted by "name/", but its own path is "name": siblings such as "name.txt" come between.
    if (!status) { pks__entry_list_settle_last(scan->source->listing); }
  }
  if (scan->levels.length > 0) {
    pop_name(scan, PKS__SCRATCH_AT(&scan->levels, level, PKS__SCRATCH_COUNT(&scan->levels, level) - 1)->path_length);
  }
  return status;
}

/// Visits the next entry of the present folder.
static pks_status visit_entry(scan *scan, const listed *entry) {
  size_t before;
  if (!push_name(scan, (const char *)scan->names.bytes + entry->name, entry->length, &before)) { return PKS_OK; }
  pks_status status = pks__source_probe_report(scan->probe, scan->source->listing, scan->error);
  if (status) { return status; }
  if (entry->kind == PKS_VFS_KIND_FOLDER) {
    uint64_t depth = scan->levels.length;
    status = visit_folder(scan);
    // The folder's own level pops the name when it ends.
    if (scan->levels.length > depth) { return status; }
  } else {
    pks_vfs_info info = {.kind = (pks_vfs_kind)entry->kind, .executable = entry->executable, .size = entry->size};
    status = add_item(scan, &info);
  }
  pop_name(scan, before);
  return status;
}

static pks_status walk_folders(scan *scan) {
  pks_status status = pks__source_probe_report(scan->probe, scan->source->listing, scan->error);
  if (!status) { status = enter_folder(scan); }
  while (!status && scan->levels.length > 0) {
    level *here = PKS__SCRATCH_AT(&scan->levels, level, PKS__SCRATCH_COUNT(&scan->levels, level) - 1);
    if (here->next == PKS__SCRATCH_COUNT(&scan->entries, listed)) {
      status = leave_folder(scan);
      continue;
    }
    listed entry = *PKS__SCRATCH_AT(&scan->entries, listed, here->next++);
    status = visit_entry(scan, &entry);
  }
  return status;
}

/// Lists everything that is in the folder.
static pks_status walk(
  pks__folder_scan *source, pks__source_probe *probe, pks__scratch_folder *home, const pks_vfs_info *own,
  pks_error *error
) {
  scan scan = {.source = source, .probe = probe, .own = own, .error = error};
  pks__scratch *all[] = {&scan.names, &scan.entries, &scan.levels};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  pks_status status = walk_folders(&scan);
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  return status;
}

static pks_status open_root(pks__folder_scan *source, const char *folder, pks_error *error) {
  int failure = pks__vfs_open_root(source->vfs, folder, false, &source->root);
  if (failure == ENOENT) {
    return pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_NO_FOLDER, PKS_SUBJECT_FOLDER, folder, "does not exist");
  }
  if (failure == ENOTDIR) {
    return pks__fail_about(error, PKS_WRONG_KIND, PKS_DETAIL_NONE, PKS_SUBJECT_FOLDER, folder, "not a folder");
  }
  return failure ? pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_FOLDER, folder, "cannot open")
                 : PKS_OK;
}

// MARK: - Map assets

/// Marks the files that one pattern means. A pattern that means none is most often a mistake.
static void mark_mapped(pks__folder_scan *source, const pks_add_request *request, const char *glob) {
  bool used = false;
  for (uint64_t i = 0; i < pks__entry_list_count(source->listing); i++) {
    pks__item *item = PKS__SCRATCH_AT(&source->listing->items, pks__item, i);
    if (item->kind != PKS__RECORD_FILE) { continue; }
    if (!pks_glob_matches(glob, pks__entry_list_path(source->listing, item), item->path_length)) { continue; }
    used = true;
    if (item->mapped || item->size == 0) { continue; }
    item->mapped = true;
    source->listing->mapped_count++;
  }
  if (used || !request->notice) { return; }
  pks_add_notice notice = {.kind = PKS_NOTICE_UNUSED_GLOB, .path = glob, .path_length = strlen(glob)};
  request->notice(request->context, &notice);
}

// MARK: - Scanning

pks_status pks__folder_scan_scan(
  pks__folder_scan *out, pks__entry_list *listing, pks__scratch_folder *home, const pks_add_request *request,
  const pks_vfs_info *own, pks_error *error
) {
  bool follows = request->links == PKS_LINKS_FOLLOW;
  pks__folder_scan source = {
    .vfs = home->vfs,
    .root = PKS_VFS_NO_FILE,
    .follows = follows,
    .selects = request->entries != NULL,
    .listing = listing,
  };
  pks_status status = open_root(&source, request->folder, error);
  if (status) { return status; }
  pks_vfs_info root = {0};
  int failure = pks__vfs_info_of(source.vfs, source.root, &root);
  if (failure) {
    status =
      pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_FOLDER, request->folder, "cannot examine");
  }
  if (!status && root.device == own->device && root.inode == own->inode) {
    status = pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_FOLDER, request->folder, "is the store itself"
    );
  }
  if (status) {
    pks__folder_scan_close(&source);
    return status;
  }
  pks__source_probe probe = {.vfs = source.vfs, .root = source.root, .request = request};
  status = source.selects ? pks__selection_scan(&probe, listing, home, error) : walk(&source, &probe, home, own, error);
  if (!status && probe.refused) {
    status = pks__fail_about(
      error, PKS_REFUSED, PKS_DETAIL_FORBIDDEN_FILES, PKS_SUBJECT_FOLDER, request->folder,
      "contains files that cannot be stored"
    );
  }
  if (status) {
    pks__folder_scan_close(&source);
    return status;
  }
  for (uint32_t i = 0; i < request->map_glob_count; i++) { mark_mapped(&source, request, request->map_globs[i]); }
  *out = source;
  return PKS_OK;
}

void pks__folder_scan_close(pks__folder_scan *source) {
  if (!source->vfs) { return; }
  if (source->root != PKS_VFS_NO_FILE) { pks__vfs_close(source->vfs, source->root); }
  *source = (pks__folder_scan){0};
}

// MARK: - Reading

/// Where an item comes from, below the folder.
static const char *source_path(const pks__folder_scan *source, const pks__item *item, size_t *length) {
  if (source->selects) { return pks__selection_source(source->listing, item, length); }
  *length = item->path_length;
  return pks__entry_list_path(source->listing, item);
}

pks_status pks__folder_scan_open(
  const pks__folder_scan *source, const pks__item *item, pks_vfs_file *out, pks_error *error
) {
  char path[PKS__PATH_MAX + 1];
  size_t length;
  const char *bytes = source_path(source, item, &length);
  memcpy(path, bytes, length);
  path[length] = 0;
  pks_vfs_open_mode mode = source->follows ? PKS_VFS_OPEN_READ_FOLLOW : PKS_VFS_OPEN_READ;
  int failure = pks__vfs_open(source->vfs, source->root, path, mode, out);
  bool is_other = failure == ELOOP || failure == EISDIR || failure == ENOTDIR || failure == EINVAL;
  if (failure == ENOENT || is_other) {
    return pks__fail_about(
      error, PKS_SOURCE_CHANGED, PKS_DETAIL_NONE, PKS_SUBJECT_FILE, path, "deleted while the folder was read"
    );
  }
  return failure ? pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_FILE, path, "cannot open")
                 : PKS_OK;
}

pks_status pks__folder_scan_changed(const pks__folder_scan *source, const pks__item *item, pks_error *error) {
  size_t length;
  const char *path = source_path(source, item, &length);
  return pks__fail_at_path(error, PKS_SOURCE_CHANGED, "changed while it was read", path, length);
}

pks_status pks__folder_scan_wrong_size(
  const pks__folder_scan *source, const pks__item *item, pks_vfs_file file, int64_t modified_ns, pks_error *error
) {
  pks_vfs_info info;
  int failure = pks__vfs_info_of(source->vfs, file, &info);
  if (failure) { return pks__folder_scan_failed(source, item, failure, error); }
  if (info.size != item->size || info.modified_ns != modified_ns) {
    return pks__folder_scan_changed(source, item, error);
  }
  size_t length;
  const char *path = source_path(source, item, &length);
  const char *text = "has more or fewer bytes than its size, like files of /proc and /sys";
  return pks__fail_case_at_path(error, PKS_REFUSED, PKS_DETAIL_SIZE_UNKNOWN, path, length, text);
}

pks_status pks__folder_scan_check_start(
  const pks__folder_scan *source, const pks__item *item, const pks_add_request *request, const uint8_t *bytes,
  size_t length, pks_error *error
) {
  const char *line = request->refused_first_line;
  size_t line_length = line ? strlen(line) : 0;
  if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
    bytes += 3;
    length -= 3;
  }
  if (!line || length < line_length || memcmp(bytes, line, line_length) != 0) { return PKS_OK; }
  if (length > line_length && bytes[line_length] != '\n' && bytes[line_length] != '\r') { return PKS_OK; }
  pks_add_notice notice = {.kind = PKS_NOTICE_SECRET};
  notice.path = source_path(source, item, &notice.path_length);
  if (request->notice) { request->notice(request->context, &notice); }
  const char *text = "begins with a secret key";
  return pks__fail_case_at_path(error, PKS_REFUSED, PKS_DETAIL_SECRET_KEY, notice.path, notice.path_length, text);
}

pks_status pks__folder_scan_failed(
  const pks__folder_scan *source, const pks__item *item, int failure, pks_error *error
) {
  pks_status status = pks__fail_system(error, failure, "cannot read", NULL);
  if (error) {
    size_t length;
    const char *path = source_path(source, item, &length);
    length = pks__min_size(length, sizeof error->file - 1);
    memcpy(error->file, path, length);
    error->file[length] = 0;
  }
  return status;
}

pks_status pks__folder_scan_read(
  const pks__folder_scan *source, const pks__item *item, pks_vfs_file file, uint64_t offset, void *out, size_t length,
  pks_error *error
) {
  size_t got = 0;
  int failure = pks__vfs_read_at(source->vfs, file, offset, out, length, &got);
  if (failure) { return pks__folder_scan_failed(source, item, failure, error); }
  return got == length ? PKS_OK : pks__folder_scan_changed(source, item, error);
}

pks_status pks__folder_scan_read_data(
  const pks__folder_scan *source, const pks__item *item, pks__file_holes *holes, uint64_t offset, void *out,
  size_t length, pks_error *error
) {
  size_t got = 0;
  int failure = pks__file_holes_read(holes, offset, out, length, &got);
  if (failure) { return pks__folder_scan_failed(source, item, failure, error); }
  return got == length ? PKS_OK : pks__folder_scan_changed(source, item, error);
}

void pks__folder_scan_report_unreadable(const pks__folder_scan *source, const pks_add_request *request) {
  for (uint64_t i = 0; request->notice && i < pks__entry_list_count(source->listing); i++) {
    const pks__item *item = pks__entry_list_at(source->listing, i);
    pks_vfs_file file = PKS_VFS_NO_FILE;
    pks_error failure;
    if (item->kind != PKS__RECORD_FILE) { continue; }
    if (pks__folder_scan_open(source, item, &file, &failure) == PKS_OK) {
      pks__vfs_close(source->vfs, file);
    } else if (failure.system_error == EACCES || failure.system_error == EPERM) {
      pks_add_notice notice = {.kind = PKS_NOTICE_UNREADABLE, .system_error = failure.system_error};
      notice.path = source_path(source, item, &notice.path_length);
      request->notice(request->context, &notice);
    }
  }
}
