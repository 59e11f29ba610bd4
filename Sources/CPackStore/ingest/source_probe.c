#include "ingest/source_probe.h"

#include <errno.h>

#include "ingest/link_scope.h"

static void send(pks__source_probe *probe, const pks_add_notice *notice) {
  const pks_add_request *request = probe->request;
  pks_notice kind = notice->kind;
  bool is_warning =
    kind == PKS_NOTICE_SKIPPED || kind == PKS_NOTICE_OWN_STORE || (kind == PKS_NOTICE_TWIN && !request->portable);
  probe->refused = probe->refused || !is_warning;
  if (request->notice) { request->notice(request->context, notice); }
}

void pks__source_probe_notice(
  pks__source_probe *probe, pks_notice kind, const char *path, size_t path_length, int system_error
) {
  pks_add_notice notice = {.kind = kind, .path = path, .path_length = path_length, .system_error = system_error};
  send(probe, &notice);
}

void pks__source_probe_twin(
  pks__source_probe *probe, const char *path, size_t path_length, const char *twin, size_t twin_length
) {
  pks_add_notice notice = {
    .kind = PKS_NOTICE_TWIN, .path = path, .path_length = path_length, .twin = twin, .twin_length = twin_length};
  send(probe, &notice);
}

static void notice_at(pks__source_probe *probe, pks_notice kind, const pks__source_place *place, int system_error) {
  pks__source_probe_notice(probe, kind, place->path, place->path_length, system_error);
}

/// Follows the link at the place to its target. Returns false if it is skipped.
static bool follow_link(pks__source_probe *probe, const pks__source_place *place, pks_vfs_info *info) {
  bool leads_out = false;
  int failure = 0;
  if (!probe->request->unsafe_links) {
    failure = pks__link_leads_out(probe->vfs, probe->root, place->path, &leads_out);
  }
  if (!failure && leads_out) {
    notice_at(probe, PKS_NOTICE_LINK_OUT, place, 0);
    return false;
  }
  if (!failure) { failure = pks__vfs_info(probe->vfs, probe->root, place->path, true, info); }
  bool is_endless = failure == ENOENT || failure == ELOOP;
  if (failure) { notice_at(probe, is_endless ? PKS_NOTICE_LINK_LOOP : PKS_NOTICE_UNREADABLE, place, failure); }
  return !failure;
}

bool pks__source_probe_examine(
  pks__source_probe *probe, const pks__source_place *place, pks_vfs_info *out, bool *followed
) {
  *followed = false;
  int failure = pks__vfs_info(probe->vfs, place->folder, place->name, false, out);
  if (failure) {
    notice_at(probe, PKS_NOTICE_UNREADABLE, place, failure);
    return false;
  }
  if (out->kind != PKS_VFS_KIND_LINK || probe->request->links == PKS_LINKS_STORE) { return true; }
  if (probe->request->links == PKS_LINKS_REFUSE) {
    notice_at(probe, PKS_NOTICE_LINK_REFUSED, place, 0);
    return false;
  }
  *followed = true;
  return follow_link(probe, place, out);
}

static pks__record_kind kind_of(const pks_vfs_info *info) {
  if (info->kind == PKS_VFS_KIND_LINK) { return PKS__RECORD_LINK; }
  return info->kind == PKS_VFS_KIND_FOLDER ? PKS__RECORD_FOLDER : PKS__RECORD_FILE;
}

pks_status pks__source_probe_add(
  pks__source_probe *probe, const pks__source_place *place, const pks_vfs_info *info, pks__entry_list *listing,
  const char *path, size_t path_length, pks_error *error
) {
  pks__record_kind kind = kind_of(info);
  pks__item item = {
    .size = kind == PKS__RECORD_FILE ? info->size : 0,
    .path_length = (uint32_t)path_length,
    .kind = (uint8_t)kind,
    .executable = kind == PKS__RECORD_FILE && info->executable,
  };
  char target[PKS__LINK_TARGET_MAX + 1];
  if (kind == PKS__RECORD_LINK) {
    size_t length = 0;
    int failure = pks__vfs_read_link(probe->vfs, place->folder, place->name, target, sizeof target, &length);
    if (failure || length == 0 || length > PKS__LINK_TARGET_MAX) {
      notice_at(probe, PKS_NOTICE_UNREADABLE, place, failure);
      return PKS_OK;
    }
    item.size = length;
  }
  return pks__entry_list_append(listing, &item, path, target, error);
}

pks_status pks__source_probe_report(pks__source_probe *probe, const pks__entry_list *listing, pks_error *error) {
  const pks_add_request *request = probe->request;
  if (probe->seen++ % 1000 != 0 || !request->progress) { return PKS_OK; }
  pks_progress progress = {
    .phase = PKS_PHASE_SCAN, .files_done = listing->file_count, .bytes_done = listing->byte_count};
  if (request->progress(request->context, &progress)) { return PKS_OK; }
  return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}
