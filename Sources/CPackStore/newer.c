#include "newer.h"

#include <stdio.h>
#include <string.h>

#include "inspect.h"
#include "needs.h"

/// Whether all segments are there that the view's versions need.
static pks_status has_segments(pks__view *view, bool *has, pks_error *error) {
  const pks_vfs *vfs = view->store->vfs;
  pks__needs needs = pks__needs_make(view->store);
  pks_status status = pks__needs_add_versions(&needs, view, error);
  *has = !status;
  for (uint64_t at = 0; *has && at < needs.names.length;) {
    const char *name = (const char *)needs.names.bytes + at;
    char path[PKS__INDEX_NAME];
    pks__file_info info;
    (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
    *has = vfs->info(vfs->context, view->store->root, path, false, &info) == 0 && info.kind == PKS__KIND_FILE;
    at += strlen(name) + 1;
  }
  pks__needs_free(&needs);
  return status;
}

static pks_status is_there(pks_store *store, uint64_t number, bool *there, pks_error *error) {
  pks__view *view = NULL;
  pks_error found;
  *there = false;
  pks_status status = pks__view_open_number(&view, store, number, &found);
  if (!status) { status = has_segments(view, there, &found); }
  pks__view_release(view);
  if (!status || pks__error_is_damage(&found)) { return PKS_OK; }
  if (error) { *error = found; }
  return status;
}

static bool is_trusted(const pks_store *store, const pks__control_slot *claim, uint64_t number) {
  bool counts = claim->durable || memcmp(claim->boot_id, store->boot_id, sizeof claim->boot_id) == 0;
  return claim->generation == number && counts;
}

/// Tries a number, unless one was found.
static pks_status try_number(
  pks_store *store, const pks__control_slot *claim, uint64_t number, pks__newer *out, pks_error *error
) {
  bool there = false;
  if (out->number > 0) { return PKS_OK; }
  pks_status status = is_there(store, number, &there, error);
  if (there) { *out = (pks__newer){.number = number, .is_trusted = is_trusted(store, claim, number)}; }
  return status;
}

pks_status pks__newer_find(pks_store *store, const pks__control *control, pks__newer *out, pks_error *error) {
  *out = (pks__newer){0};
  // Without a slot that counts there is nothing to be newer than.
  if (!control->valid[0] && !control->valid[1]) { return PKS_OK; }
  uint64_t current = pks__control_current(control)->generation;
  pks_status status = PKS_OK;
  for (size_t i = 0; !status && i < PKS__CONTROL_SLOTS; i++) {
    const pks__control_slot *claim = &control->claims[i];
    if (!control->torn[i]) { continue; }
    // Atomic commits write over each other: the number need not be the next.
    if (claim->generation > current) { status = try_number(store, claim, claim->generation, out, error); }
    if (!status) { status = try_number(store, claim, current + 1, out, error); }
  }
  return status;
}
