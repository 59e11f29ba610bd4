#include "check/verification.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/checksum.h"

enum { PROGRESS_BYTES = 1024 * 1024 };

/// Several checks may come upon the same damage one after another.
static bool is_repeated(const pks__verification *v) {
  const pks_error *found = &v->found, *before = &v->reported;
  return v->totals.fault_count > 0 && found->text == before->text && found->offset == before->offset
    && found->offset != PKS_NO_OFFSET && strcmp(found->file, before->file) == 0;
}

/// Counts an asset that is hurt, unless it was counted before: several checks may come upon one asset.
static void count_hurt(pks__verification *v, const pks__fault_subject *subject) {
  uint64_t parts[] = {
    pks__hash_map_key(&v->hurt, subject->pack, strlen(subject->pack)), subject->version,
    pks__hash_map_key(&v->hurt, subject->asset, subject->asset_length)};
  uint64_t key = pks__hash_map_key(&v->hurt, parts, sizeof parts), probe = 0;
  uint32_t number;
  if (pks__hash_map_next(&v->hurt, key, &probe, &number)) { return; }
  v->totals.asset_count++;
  // Without the memory to remember it, an asset may count twice; its report stays correct.
  (void)pks__hash_map_insert(&v->hurt, key, 0, NULL);
}

static void tell(pks__verification *v, pks_fault *fault, const pks__fault_subject *subject) {
  if (subject) {
    fault->pack = subject->pack;
    fault->version = subject->version;
    fault->asset = subject->asset;
    fault->asset_length = subject->asset_length;
    if (subject->asset) { count_hurt(v, subject); }
  }
  if (v->fault) { v->fault(v->context, fault); }
}

pks_status pks__verify_settle(pks__verification *v, pks_status status, const pks__fault_subject *subject) {
  if (!status) { return PKS_OK; }
  if (!pks__error_is_damage(&v->found)) { return status; }
  pks__frame_finding *known = pks__verify_known(v);
  if (known) {
    pks__verify_blame(v, known, subject);
    return PKS_OK;
  }
  bool repeated = is_repeated(v);
  if (repeated && !subject) { return PKS_OK; }
  if (!repeated) { v->totals.fault_count++; }
  v->reported = v->found;
  pks_fault fault = {
    .number = v->totals.fault_count,
    .status = v->found.status,
    .system_error = v->found.system_error,
    .text = v->found.text,
    .file = v->found.file,
    .offset = v->found.offset,
  };
  tell(v, &fault, subject);
  return PKS_OK;
}

void pks__verify_report(pks__verification *v, const char *text, const char *file, uint64_t offset) {
  (void)pks__verify_settle(v, pks__fail(&v->found, PKS_CORRUPT, text, file, offset), NULL);
}

pks_status pks__verify_progress(pks__verification *v, bool always) {
  bool due = always || v->bytes_done - v->bytes_shown >= PROGRESS_BYTES;
  if (!v->progress || !due) { return PKS_OK; }
  v->bytes_shown = v->bytes_done;
  if (v->progress(v->context, v->bytes_done, v->bytes_total)) { return PKS_OK; }
  return pks__fail(&v->found, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

pks_status pks__verify_tick(pks__verification *v) {
  return ++v->ticks % PKS__ROWS_PER_TICK == 0 ? pks__verify_progress(v, true) : PKS_OK;
}

/// Frames of different segments may share a key: the finding contains the segment.
static uint64_t finding_key(uint32_t segment, uint64_t offset) { return (uint64_t)segment << 40 ^ offset; }

pks__frame_finding *pks__verify_finding(pks__verification *v, uint32_t segment, uint64_t offset) {
  uint64_t probe = 0;
  uint32_t number;
  while (pks__hash_map_next(&v->finding_map, finding_key(segment, offset), &probe, &number)) {
    pks__frame_finding *finding = PKS__SCRATCH_AT(&v->findings, pks__frame_finding, number);
    if (finding->segment == segment && finding->offset == offset) { return finding; }
  }
  return NULL;
}

pks_status pks__verify_note(pks__verification *v, const pks__frame_finding *finding) {
  uint32_t number = (uint32_t)PKS__SCRATCH_COUNT(&v->findings, pks__frame_finding);
  pks_status status = pks__scratch_append(&v->findings, finding, sizeof *finding, &v->found);
  if (status) { return status; }
  return pks__hash_map_insert(&v->finding_map, finding_key(finding->segment, finding->offset), number, &v->found);
}

void pks__verify_blame(pks__verification *v, pks__frame_finding *finding, const pks__fault_subject *subject) {
  if (subject && finding->number > 0 && finding->told_for == v->subject) { return; }
  if (!subject && finding->number > 0) { return; }
  if (finding->number == 0) { finding->number = ++v->totals.fault_count; }
  finding->told_for = v->subject;
  // Pages are of versions: assets are read without them.
  pks__fault_subject version;
  if (subject && pks__segment_list_at(&v->segments, finding->segment)->info.kind == PKS__SEGMENT_METADATA) {
    version = (pks__fault_subject){.pack = subject->pack, .version = subject->version};
    subject = &version;
  }
  char path[PKS__INDEX_NAME];
  pks__verify_segment_path(v, finding->segment, path);
  pks_fault fault = {
    .number = finding->number,
    .status = finding->status,
    .is_cached_damage = finding->is_cached_damage,
    .system_error = finding->system_error,
    .text = finding->text,
    .file = path,
    .offset = finding->offset,
    .length = finding->length,
  };
  tell(v, &fault, subject);
}

void pks__verify_tell_rest(pks__verification *v) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&v->findings, pks__frame_finding); i++) {
    pks__frame_finding *finding = PKS__SCRATCH_AT(&v->findings, pks__frame_finding, i);
    // A missing segment is reported by its users, if any. So is missing purgeable data.
    bool is_told = finding->is_bad && finding->offset != PKS_NO_OFFSET && finding->status != PKS_PURGED;
    if (is_told) { pks__verify_blame(v, finding, NULL); }
  }
}

void pks__verify_segment_path(const pks__verification *v, uint32_t number, char out[PKS__INDEX_NAME]) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(&pks__segment_list_at(&v->segments, number)->info.id, name);
  (void)snprintf(out, PKS__INDEX_NAME, PKS__SEGMENTS_FOLDER "/%s", name);
}

/// The finding of a segment that is gone and that had the page.
static pks__frame_finding *find_gone(pks__verification *v, const char *page) {
  char digits[17];
  uint64_t prefix;
  memcpy(digits, page, sizeof digits - 1);
  digits[sizeof digits - 1] = 0;
  if (!pks__hex_parse64(digits, &prefix)) { return NULL; }
  for (uint32_t i = 0; i < v->snapshot->run_count; i++) {
    bool more = v->segments.numbers[i] != NULL && v->runs[i].table.body != NULL;
    uint32_t probe = 0, segment, row;
    while (more && !pks__run_find_chunk(&v->runs[i], prefix, &probe, &segment, &row, &more, NULL) && more) {
      uint32_t number = v->segments.numbers[i][segment];
      if (v->states[number] == PKS__SEGMENT_GONE) { return pks__verify_finding(v, number, PKS_NO_OFFSET); }
    }
  }
  return NULL;
}

pks__frame_finding *pks__verify_known(pks__verification *v) {
  static const char folder[] = PKS__SEGMENTS_FOLDER "/";
  pks__segment_id id;
  const char *file = v->found.file;
  if (v->findings.length == 0) { return NULL; }
  if (strlen(file) == 2 * PKS__ID_SIZE) { return find_gone(v, file); }
  if (strncmp(file, folder, sizeof folder - 1) != 0) { return NULL; }
  if (!pks__segment_name_parse(file + sizeof folder - 1, &id)) { return NULL; }
  uint32_t number = pks__segment_list_find(&v->segments, &id);
  pks__frame_finding *finding = number == PKS__NO_SEGMENT ? NULL : pks__verify_finding(v, number, v->found.offset);
  return finding && finding->is_bad ? finding : NULL;
}
