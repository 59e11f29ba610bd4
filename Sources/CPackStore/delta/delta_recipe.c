#include "delta/delta_recipe.h"

#include <string.h>

typedef struct parser {
  pks__delta_recipe *out;
  pks__reader reader;
  const pks__delta_header *header;
  const pks__version_list *from;
  uint64_t next_item;  ///< of version A
  uint64_t row;        ///< after the last chunks that were kept
  uint64_t again;      ///< after the last chunks that were new before
  uint64_t new_bytes;  ///< so far
  uint64_t replaced;   ///< position in A of the data that the last of them replace
  uint64_t file_count, link_count, folder_count, logical_bytes;
  const char *name;
} parser;

static pks_status fail(const parser *parser, pks_error *error) {
  return pks__fail_about(error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, parser->name, "its recipe is invalid");
}

// MARK: - Entries

/// Whether the path comes after the previous entry's.
static bool rises(const parser *parser, const char *path, size_t length) {
  const pks__entry_list *listing = parser->out->listing;
  uint64_t count = pks__entry_list_count(listing);
  if (count == 0) { return true; }
  const pks__item *last = pks__entry_list_at(listing, count - 1);
  return pks__compare_bytes(pks__entry_list_path(listing, last), last->path_length, path, length) < 0;
}

static bool count_entry(parser *parser, const pks__item *item) {
  switch ((pks__record_kind)item->kind) {
    case PKS__RECORD_FILE:
      parser->file_count++;
      return !pks__add_overflows(parser->logical_bytes, item->size, &parser->logical_bytes);
    case PKS__RECORD_LINK: parser->link_count++; return true;
    case PKS__RECORD_FOLDER: parser->folder_count++; return true;
    case PKS__RECORD_ABSENT: break;
  }
  return false;
}

static pks_status append_entry(
  parser *parser, const pks__item *item, const char *path, const void *target, pks_error *error
) {
  uint64_t first_step = PKS__SCRATCH_COUNT(&parser->out->steps, pks__delta_step);
  if (!rises(parser, path, item->path_length) || !count_entry(parser, item)) { return fail(parser, error); }
  pks_status status = pks__scratch_append(&parser->out->first_steps, &first_step, sizeof first_step, error);
  return status ? status : pks__entry_list_append(parser->out->listing, item, path, target, error);
}

static pks_status append_step(parser *parser, const pks__delta_step *step, pks_error *error) {
  return pks__scratch_append(&parser->out->steps, step, sizeof *step, error);
}

/// Takes `count` entries of A as they are. None of them is a map asset in B.
static pks_status take_same(parser *parser, uint64_t count, pks_error *error) {
  const pks__version_list *from = parser->from;
  pks_status status = PKS_OK;
  if (count == 0 || count > pks__entry_list_count(&from->listing) - parser->next_item) { return fail(parser, error); }
  for (; !status && count > 0; count--, parser->next_item++) {
    pks__item item = *pks__entry_list_at(&from->listing, parser->next_item);
    item.mapped = false;
    uint64_t first = pks__version_list_first_row(from, parser->next_item);
    pks__delta_step step = {
      .kind = PKS__DELTA_KEEP,
      .first = first,
      .count = pks__version_list_first_row(from, parser->next_item + 1) - first,
    };
    const char *path = pks__entry_list_path(&from->listing, &item);
    status = append_entry(parser, &item, path, pks__entry_list_target(&from->listing, &item), error);
    if (!status && step.count > 0) { status = append_step(parser, &step, error); }
    parser->row = first + step.count;
  }
  return status;
}

// MARK: - Steps

/// Reads the rest of a step of new bytes, whose count is the rows of A that it replaces, and passes these.
static bool read_new(parser *parser, pks__delta_step *step) {
  uint64_t row = parser->row, rows = step->count;
  if (rows > pks__version_list_rows(parser->from) - row) { return false; }
  parser->row += rows;
  parser->replaced = pks__version_list_position(parser->from, row);
  uint64_t length = pks__version_list_position(parser->from, parser->row) - parser->replaced;
  step->count = pks__unzigzag(pks__read_varint(&parser->reader), length);
  step->first = parser->new_bytes;
  if (parser->reader.failed || step->count == 0) { return false; }
  if (step->count > parser->header->new_bytes - step->first) { return false; }
  parser->new_bytes += step->count;
  return true;
}

static bool read_step(parser *parser, pks__delta_step *step) {
  uint64_t value = pks__read_varint(&parser->reader), end;
  step->kind = (pks__delta_step_kind)(value & ((1u << PKS__DELTA_STEP_BITS) - 1));
  step->count = value >> PKS__DELTA_STEP_BITS;
  if (parser->reader.failed) { return false; }
  if (step->kind == PKS__DELTA_NEW) { return read_new(parser, step); }
  if (step->count == 0) { return false; }
  switch (step->kind) {
    case PKS__DELTA_KEEP:
      step->first = pks__unzigzag(pks__read_varint(&parser->reader), parser->row);
      parser->row = step->first + step->count;
      return !parser->reader.failed && pks__range_fits(step->first, step->count, pks__version_list_rows(parser->from));
    case PKS__DELTA_AGAIN:
      step->first = pks__unzigzag(pks__read_varint(&parser->reader), parser->again);
      // That there are so many is seen when it is their turn.
      if (parser->reader.failed || pks__add_overflows(step->first, step->count, &end)) { return false; }
      parser->again = end;
      return true;
    default: return false;
  }
}

static pks_status read_steps(parser *parser, uint64_t size, pks_error *error) {
  uint64_t count = pks__read_varint(&parser->reader);
  if (parser->reader.failed || (count == 0) != (size == 0)) { return fail(parser, error); }
  pks_status status = PKS_OK;
  for (; !status && count > 0; count--) {
    pks__delta_step step;
    if (!read_step(parser, &step)) { return fail(parser, error); }
    status = append_step(parser, &step, error);
    if (!status && step.kind == PKS__DELTA_NEW) {
      pks__new_steps *steps = &parser->out->new_steps;
      status = pks__scratch_append(&steps->ends, &parser->new_bytes, sizeof parser->new_bytes, error);
      if (!status) {
        status = pks__scratch_append(&steps->replaced, &parser->replaced, sizeof parser->replaced, error);
      }
    }
  }
  return status;
}

// MARK: - What is said again

/// `old` is the entry of A with that path, or NULL: the size of a file is relative to it.
static pks_status read_file(parser *parser, pks__item *item, const pks__item *old, const char *path, pks_error *error) {
  item->size = pks__read_varint(&parser->reader);
  if (old && old->kind == PKS__RECORD_FILE) { item->size = pks__unzigzag(item->size, old->size); }
  if (parser->reader.failed || (item->mapped && item->size == 0)) { return fail(parser, error); }
  pks_status status = append_entry(parser, item, path, NULL, error);
  return status ? status : read_steps(parser, item->size, error);
}

static pks_status read_link(parser *parser, pks__item *item, const char *path, pks_error *error) {
  item->size = pks__read_varint(&parser->reader);
  bool fits = !parser->reader.failed && item->size > 0 && item->size <= PKS__LINK_TARGET_MAX;
  const uint8_t *target = fits ? pks__read_bytes(&parser->reader, (size_t)item->size) : NULL;
  return target ? append_entry(parser, item, path, target, error) : fail(parser, error);
}

static pks_status read_entry(
  parser *parser, uint64_t flags, const pks__item *old, const char *path, size_t length, pks_error *error
) {
  if (flags > (PKS__DELTA_KIND_MASK | PKS__DELTA_EXECUTABLE | PKS__DELTA_MAPPED)) { return fail(parser, error); }
  pks__item item = {
    .path_length = (uint32_t)length,
    .kind = (uint8_t)(flags & PKS__DELTA_KIND_MASK),
    .executable = flags & PKS__DELTA_EXECUTABLE,
    .mapped = flags & PKS__DELTA_MAPPED,
  };
  if (item.kind == PKS__RECORD_FILE) { return read_file(parser, &item, old, path, error); }
  if (item.executable || item.mapped) { return fail(parser, error); }
  if (item.kind == PKS__RECORD_LINK) { return read_link(parser, &item, path, error); }
  return append_entry(parser, &item, path, NULL, error);
}

/// A path of A with other content.
static pks_status read_other(parser *parser, uint64_t flags, pks_error *error) {
  const pks__entry_list *listing = &parser->from->listing;
  if (parser->next_item == pks__entry_list_count(listing)) { return fail(parser, error); }
  const pks__item *item = pks__entry_list_at(listing, parser->next_item);
  parser->row = pks__version_list_first_row(parser->from, parser->next_item++);
  return read_entry(parser, flags, item, pks__entry_list_path(listing, item), item->path_length, error);
}

/// A path that shares its beginning with the one before.
static pks_status read_added(parser *parser, uint64_t flags, pks_error *error) {
  char path[PKS__PATH_MAX];
  const pks__entry_list *listing = parser->out->listing;
  uint64_t count = pks__entry_list_count(listing);
  const pks__item *last = count > 0 ? pks__entry_list_at(listing, count - 1) : NULL;
  uint64_t shared = pks__read_varint(&parser->reader), rest = pks__read_varint(&parser->reader);
  if (parser->reader.failed || shared > (last ? last->path_length : 0) || rest > PKS__PATH_MAX - shared) {
    return fail(parser, error);
  }
  const uint8_t *text = pks__read_bytes(&parser->reader, (size_t)rest);
  if (!text) { return fail(parser, error); }
  if (shared > 0) { memcpy(path, pks__entry_list_path(listing, last), (size_t)shared); }
  memcpy(path + shared, text, (size_t)rest);
  size_t length = (size_t)(shared + rest);
  return pks__path_is_valid(path, length) ? read_entry(parser, flags, NULL, path, length, error) : fail(parser, error);
}

static pks_status read_next(parser *parser, pks_error *error) {
  uint64_t value = pks__read_varint(&parser->reader), rest = value >> PKS__DELTA_OP_BITS;
  if (parser->reader.failed) { return fail(parser, error); }
  switch ((pks__delta_op)(value & ((1u << PKS__DELTA_OP_BITS) - 1))) {
    case PKS__DELTA_SAME: return take_same(parser, rest, error);
    case PKS__DELTA_GONE:
      if (rest == 0 || rest > pks__entry_list_count(&parser->from->listing) - parser->next_item) { break; }
      parser->next_item += rest;
      return PKS_OK;
    case PKS__DELTA_OTHER: return read_other(parser, rest, error);
    case PKS__DELTA_ADDED: return read_added(parser, rest, error);
  }
  return fail(parser, error);
}

static bool matches_header(const parser *parser) {
  const pks__delta_header *header = parser->header;
  return parser->file_count == header->file_count && parser->link_count == header->link_count
    && parser->folder_count == header->folder_count && parser->logical_bytes == header->logical_bytes
    && parser->new_bytes == header->new_bytes;
}

pks_status pks__delta_recipe_read(
  pks__delta_recipe *out, const pks__scratch *bytes, const pks__delta_header *header, const pks__version_list *from,
  pks__entry_list *listing, pks__scratch_folder *home, const char *name, pks_error *error
) {
  *out = (pks__delta_recipe){.listing = listing};
  pks__scratch *all[] = {&out->steps, &out->first_steps, &out->new_steps.ends, &out->new_steps.replaced};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  parser parser = {.out = out, .header = header, .from = from, .name = name};
  parser.reader = pks__reader_make(bytes->bytes, (size_t)bytes->length);
  pks_status status = PKS_OK;
  while (!status && pks__reader_left(&parser.reader) > 0) { status = read_next(&parser, error); }
  if (!status && !matches_header(&parser)) { status = fail(&parser, error); }
  uint64_t end = PKS__SCRATCH_COUNT(&out->steps, pks__delta_step);
  return status ? status : pks__scratch_append(&out->first_steps, &end, sizeof end, error);
}

void pks__delta_recipe_close(pks__delta_recipe *description) {
  pks__scratch_free(&description->steps);
  pks__scratch_free(&description->first_steps);
  pks__scratch_free(&description->new_steps.ends);
  pks__scratch_free(&description->new_steps.replaced);
}
