#include "ingest/selection_scan.h"

#include <errno.h>
#include <string.h>

#include "format/hash_map.h"
#include "ingest/link_scope.h"

/// A path of the pack: an entry, or a parent folder of one.
typedef struct node {
  uint64_t item;    ///< in the listing, if it is an entry; NO_ITEM for others, and for entries that cannot be stored
  uint32_t entry;   ///< the entry whose path begins with this one
  uint32_t length;  ///< of that beginning
  bool is_file;     ///< a file or a link: nothing may be below
} node;
#define NO_ITEM UINT64_MAX

typedef struct selection {
  pks__source_probe *probe;
  pks__entry_list *listing;
  pks__scratch nodes;     ///< node
  pks__hash_map paths;    ///< path -> node
  pks__hash_map folded;   ///< path with the last part folded -> the first node of that folding
  uint64_t hidden_count;  ///< items of folders that turned out not to be empty
  pks_vfs_file folder;    ///< the source folder of the entry before
  char folder_path[PKS__PATH_MAX + 1];
  pks_error *error;
} selection;

static const char *path_of(const selection *selection, const node *node) {
  return selection->probe->request->entries[node->entry].path;
}

// MARK: - Paths of the pack

static bool find_path(const selection *selection, uint64_t key, const char *path, uint32_t length, uint32_t *found) {
  uint64_t probe = 0;
  while (pks__hash_map_next(&selection->paths, key, &probe, found)) {
    const node *other = PKS__SCRATCH_AT(&selection->nodes, const node, *found);
    if (other->length == length && memcmp(path_of(selection, other), path, length) == 0) { return true; }
  }
  return false;
}

enum { FOLDED_PATH_MAX = PKS__PATH_MAX + PKS_FOLDED_NAME_MAX };

/// The path with its last part folded: equal for siblings that some disks take for one.
static size_t fold(const char *path, uint32_t length, char *out) {
  uint32_t name = length;
  while (name > 0 && path[name - 1] != '/') { name--; }
  memcpy(out, path, name);
  return name + pks_fold_name(path + name, length - name, out + name);
}

/// Reports the path if an earlier one has the same folding.
static pks_status find_twin(selection *selection, uint32_t index) {
  const node *own = PKS__SCRATCH_AT(&selection->nodes, const node, index);
  char folded[FOLDED_PATH_MAX], other_folded[FOLDED_PATH_MAX];
  size_t length = fold(path_of(selection, own), own->length, folded);
  uint64_t key = pks__hash_map_key(&selection->folded, folded, length), probe = 0;
  uint32_t found;
  while (pks__hash_map_next(&selection->folded, key, &probe, &found)) {
    const node *other = PKS__SCRATCH_AT(&selection->nodes, const node, found);
    const char *other_path = path_of(selection, other);
    if (fold(other_path, other->length, other_folded) != length || memcmp(folded, other_folded, length) != 0) {
      continue;
    }
    pks__source_probe_twin(selection->probe, path_of(selection, own), own->length, other_path, other->length);
    return PKS_OK;
  }
  return pks__hash_map_insert(&selection->folded, key, index, selection->error);
}

static pks_status add_node(selection *selection, const node *node, uint64_t key) {
  uint64_t index = PKS__SCRATCH_COUNT(&selection->nodes, struct node);
  if (index >= UINT32_MAX) {
    return pks__fail_about(
      selection->error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many paths are selected"
    );
  }
  pks_status status = pks__scratch_append(&selection->nodes, node, sizeof *node, selection->error);
  if (!status) { status = pks__hash_map_insert(&selection->paths, key, (uint32_t)index, selection->error); }
  return status ? status : find_twin(selection, (uint32_t)index);
}

/// Registers an entry below a path. If the path is an entry itself, it is a non-empty folder.
static pks_status pass_through(selection *selection, node *node) {
  const char *path = path_of(selection, node);
  if (node->is_file) {
    const char *text = "selected, but below a file or a link";
    return pks__fail_at_path(selection->error, PKS_INVALID_ARGUMENT, text, path, node->length);
  }
  if (node->item == NO_ITEM) { return PKS_OK; }
  PKS__SCRATCH_AT(&selection->listing->items, pks__item, node->item)->path_length = 0;
  node->item = NO_ITEM;
  selection->hidden_count++;
  return PKS_OK;
}

/// Adds the folders on the way to an entry that the entry before does not share.
static pks_status add_folders(selection *selection, uint32_t entry, const char *path, const char *before) {
  uint32_t shared = 0;
  for (uint32_t i = 0; before[i] && before[i] == path[i]; i++) {
    if (path[i] == '/') { shared = i + 1; }
  }
  pks_status status = PKS_OK;
  for (uint32_t i = shared; !status && path[i]; i++) {
    if (path[i] != '/') { continue; }
    uint64_t key = pks__hash_map_key(&selection->paths, path, i);
    uint32_t found;
    if (find_path(selection, key, path, i, &found)) {
      status = pass_through(selection, PKS__SCRATCH_AT(&selection->nodes, node, found));
    } else {
      status = add_node(selection, &(node){.item = NO_ITEM, .entry = entry, .length = i}, key);
    }
  }
  return status;
}

// MARK: - Sources

/// Opens the parent folder of a source. No part of its path may be a link, unless links are followed.
static int enter_folder(selection *selection, const char *source, size_t length) {
  const pks__source_probe *probe = selection->probe;
  bool is_open = selection->folder != PKS_VFS_NO_FILE;
  if (is_open && strlen(selection->folder_path) == length && memcmp(selection->folder_path, source, length) == 0) {
    return 0;
  }
  if (is_open) { pks__vfs_close(probe->vfs, selection->folder); }
  selection->folder = PKS_VFS_NO_FILE;
  memcpy(selection->folder_path, source, length);
  selection->folder_path[length] = 0;
  const char *path = length > 0 ? selection->folder_path : ".";
  bool follows = probe->request->links == PKS_LINKS_FOLLOW;
  pks_vfs_open_mode mode = follows ? PKS_VFS_OPEN_FOLDER_FOLLOW : PKS_VFS_OPEN_FOLDER;
  return pks__vfs_open(probe->vfs, probe->root, path, mode, &selection->folder);
}

/// Whether the path of a source leads out of the root; reports a notice. The target of the source itself is checked later.
static bool leads_out(selection *selection, const pks__source_place *place) {
  const pks_add_request *request = selection->probe->request;
  if (request->links != PKS_LINKS_FOLLOW || request->unsafe_links) { return false; }
  bool leads_out = false;
  int failure = pks__link_leads_out(selection->probe->vfs, selection->probe->root, place->path, &leads_out);
  if (!failure && !leads_out) { return false; }
  pks_notice kind = PKS_NOTICE_UNREADABLE;
  if (failure == ENOENT || failure == ELOOP) { kind = PKS_NOTICE_LINK_LOOP; }
  if (leads_out) { kind = PKS_NOTICE_LINK_OUT; }
  pks__source_probe_notice(selection->probe, kind, place->path, place->path_length, failure);
  return true;
}

/// Examines an entry's source. Sets `*found` to false, after a notice, if it cannot be stored.
static pks_status examine(selection *selection, pks__source_place *place, pks_vfs_info *info, bool *found) {
  const char *slash = strrchr(place->path, '/');
  place->name = slash ? slash + 1 : place->path;
  *found = false;
  if (leads_out(selection, place)) { return PKS_OK; }
  int failure = enter_folder(selection, place->path, slash ? (size_t)(slash - place->path) : 0);
  if (failure) {
    pks__source_probe_notice(selection->probe, PKS_NOTICE_UNREADABLE, place->path, place->path_length, failure);
    return PKS_OK;
  }
  place->folder = selection->folder;
  bool followed;
  *found = pks__source_probe_examine(selection->probe, place, info, &followed);
  if (!*found || (info->kind != PKS_VFS_KIND_OTHER && !(followed && info->kind == PKS_VFS_KIND_FOLDER))) {
    return PKS_OK;
  }
  const char *text = followed ? "a selected link leads to a folder; select the folder's entries"
                              : "selected, but not a file, a folder or a link";
  return pks__fail_at_path(selection->error, PKS_WRONG_KIND, text, place->path, place->path_length);
}

// MARK: - Entries

static pks_status check_entry(const selection *selection, const pks_add_entry *entry, const char *before) {
  const char *text = NULL, *path = entry->path;
  if (!entry->path || !pks__path_is_valid(entry->path, strlen(entry->path))) {
    text = "invalid path of an entry";
  } else if (!entry->source || !pks__path_is_valid(entry->source, strlen(entry->source))) {
    text = "invalid source of an entry; use a path below the folder";
  } else if (strcmp(before, entry->path) >= 0) {
    text = "the entries are out of order or repeated; sort them by the bytes of their paths";
  }
  return text ? pks__fail_about(selection->error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PATH, path, text)
              : PKS_OK;
}

/// Adds the entry's item, and behind its texts where it comes from.
static pks_status add_item(selection *selection, const pks__source_place *place, const pks_vfs_info *info, node *node) {
  pks__entry_list *listing = selection->listing;
  uint64_t count = pks__entry_list_count(listing);
  pks_status status = pks__source_probe_add(
    selection->probe, place, info, listing, path_of(selection, node), node->length, selection->error
  );
  if (status || pks__entry_list_count(listing) == count) { return status; }
  node->item = count;
  return pks__scratch_append(&listing->texts, place->path, place->path_length + 1, selection->error);
}

static pks_status visit(selection *selection, uint32_t index, const char *before) {
  const pks_add_entry *entry = &selection->probe->request->entries[index];
  pks_status status = pks__source_probe_report(selection->probe, selection->listing, selection->error);
  if (!status) { status = check_entry(selection, entry, before); }
  if (!status) { status = add_folders(selection, index, entry->path, before); }
  if (status) { return status; }
  node own = {.item = NO_ITEM, .entry = index, .length = (uint32_t)strlen(entry->path)};
  pks__source_place place = {.path = entry->source, .path_length = strlen(entry->source)};
  pks_vfs_info info = {0};
  bool found;
  status = examine(selection, &place, &info, &found);
  own.is_file = found && info.kind != PKS_VFS_KIND_FOLDER;
  if (!status && found) { status = add_item(selection, &place, &info, &own); }
  if (status) { return status; }
  return add_node(selection, &own, pks__hash_map_key(&selection->paths, entry->path, own.length));
}

/// Takes items out that were folders and are not empty.
static void remove_hidden(pks__entry_list *listing) {
  uint64_t kept = 0, count = pks__entry_list_count(listing);
  for (uint64_t i = 0; i < count; i++) {
    const pks__item item = *pks__entry_list_at(listing, i);
    if (item.path_length > 0) { *PKS__SCRATCH_AT(&listing->items, pks__item, kept++) = item; }
  }
  listing->items.length = kept * sizeof(pks__item);
}

pks_status pks__selection_scan(
  pks__source_probe *probe, pks__entry_list *listing, pks__scratch_folder *home, pks_error *error
) {
  selection selection = {.probe = probe, .listing = listing, .folder = PKS_VFS_NO_FILE, .error = error};
  pks__scratch_init(&selection.nodes, home);
  pks__hash_map_init(&selection.paths, home);
  pks__hash_map_init(&selection.folded, home);
  pks_status status = PKS_OK;
  const char *before = "";
  for (uint32_t i = 0; !status && i < probe->request->entry_count; i++) {
    status = visit(&selection, i, before);
    before = probe->request->entries[i].path;
  }
  if (!status && selection.hidden_count > 0) { remove_hidden(listing); }
  if (selection.folder != PKS_VFS_NO_FILE) { pks__vfs_close(probe->vfs, selection.folder); }
  pks__scratch_free(&selection.nodes);
  pks__hash_map_free(&selection.paths);
  pks__hash_map_free(&selection.folded);
  return status;
}

const char *pks__selection_source(const pks__entry_list *listing, const pks__item *item, size_t *length) {
  const char *source = pks__entry_list_path(listing, item) + item->path_length;
  if (item->kind == PKS__RECORD_LINK) { source += item->size; }
  *length = strlen(source);
  return source;
}
