#include "catalog/tree_cursor.h"

enum { HEADER_SIZE = 8, CHILD_SIZE = PKS__ID_SIZE + 8 };

void pks__tree_cursor_init(
  pks__tree_cursor *cursor, pks__page_source source, pks__tree_kind kind, uint16_t row_size, const pks__tree *tree
) {
  *cursor = (pks__tree_cursor
  ){.source = source, .kind = kind, .row_size = row_size, .height = tree->height, .root = tree->root};
}

void pks__tree_cursor_free(pks__tree_cursor *cursor) {
  for (size_t level = 0; level < PKS__TREE_LEVELS; level++) {
    pks__scratch_free(&cursor->places[level].page);
    pks__scratch_free(&cursor->places[level].key);
  }
  pks__scratch_free(&cursor->last_key);
}

static pks_status corrupt_page(const pks__id *id, pks_error *error) {
  char name[2 * PKS__ID_SIZE + 1];
  pks__hex(id->bytes, sizeof id->bytes, name);
  return pks__fail(error, PKS_CORRUPT, "a page of a catalog is bad", name, PKS_NO_OFFSET);
}

/// Begins with the page at its level's place: checks its header.
static pks_status begin_page(pks__tree_cursor *cursor, uint32_t level, const pks__id *id, pks_error *error) {
  pks__tree_place *place = &cursor->places[level];
  // A leaf that was refused before any item was read has no key: the previous leaf's key still applies.
  if (level == 0 && cursor->kind == PKS__TREE_MAP && place->key.length > 0) {
    cursor->last_key.length = 0;
    pks_status status = pks__scratch_append(&cursor->last_key, place->key.bytes, place->key.length, error);
    if (status) { return status; }
  }
  place->reader = pks__reader_make(place->page.bytes, (size_t)place->page.length);
  place->key.length = 0;
  place->is_fresh = true;
  uint8_t kind = pks__read8(&place->reader), stored_level = pks__read8(&place->reader);
  uint16_t row_size = pks__read16(&place->reader);
  place->left = pks__read32(&place->reader);
  bool fits = !place->reader.failed && kind == cursor->kind && stored_level == level && row_size == cursor->row_size
    && place->page.length <= PKS__TREE_PAGE_LIMIT;
  return fits ? PKS_OK : corrupt_page(id, error);
}

/// Fetches a page to the place of its level and begins with it.
static pks_status load_page(pks__tree_cursor *cursor, uint32_t level, const pks__id *id, pks_error *error) {
  pks_status status = cursor->source.get(cursor->source.context, id, &cursor->places[level].page, error);
  return status ? status : begin_page(cursor, level, id, error);
}

/// Whether a key that has `shared` bytes in common with `before`, and goes on as `further`, comes after it. The shared
/// part is the largest possible, so that the next byte decides.
static bool rises(const pks__scratch *before, uint64_t shared, const uint8_t *further, uint64_t further_length) {
  return further_length > 0 && (shared == before->length || further[0] > before->bytes[shared]);
}

/// Whether the first key of a leaf comes after the last one of the leaf before.
static bool follows(const pks__scratch *before, const pks__scratch *key) {
  return pks__compare_bytes(before->bytes, (size_t)before->length, key->bytes, (size_t)key->length) < 0;
}

/// Reads the key of the next item of a map page.
static pks_status read_key(pks__tree_place *place, bool is_first, pks_error *error) {
  uint64_t shared = pks__read_varint(&place->reader);
  uint64_t further = pks__read_varint(&place->reader);
  if (place->reader.failed || shared > place->key.length || further > PKS__PATH_MAX) {
    place->reader.failed = true;
    return PKS_OK;
  }
  const uint8_t *bytes = pks__read_bytes(&place->reader, (size_t)further);
  if (!bytes) { return PKS_OK; }
  if (!is_first && !rises(&place->key, shared, bytes, further)) {
    place->reader.failed = true;
    return PKS_OK;
  }
  place->key.length = shared;
  return pks__scratch_append(&place->key, bytes, further, error);
}

/// Moves one item ahead in the page of `level`; `*body` is its value, row or child.
static pks_status next_in_page(
  pks__tree_cursor *cursor, uint32_t level, const uint8_t **body, size_t *body_length, pks_error *error
) {
  pks__tree_place *place = &cursor->places[level];
  PKS_ASSERT(place->left > 0);
  place->left--;
  bool is_first = place->is_fresh;
  place->is_fresh = false;
  pks_status status = cursor->kind == PKS__TREE_MAP ? read_key(place, is_first, error) : PKS_OK;
  if (status) { return status; }
  if (level == 0 && is_first && cursor->last_key.length > 0 && !follows(&cursor->last_key, &place->key)) {
    return corrupt_page(&cursor->root, error);
  }
  uint64_t length = CHILD_SIZE;
  if (level == 0) { length = cursor->kind == PKS__TREE_MAP ? pks__read_varint(&place->reader) : cursor->row_size; }
  *body = length <= PKS__TREE_PAGE_LIMIT ? pks__read_bytes(&place->reader, (size_t)length) : NULL;
  *body_length = (size_t)length;
  bool ends_well = place->left > 0 || pks__reader_left(&place->reader) == 0;
  if (!*body || place->reader.failed || !ends_well) { return corrupt_page(&cursor->root, error); }
  return PKS_OK;
}

/// Loads the next child of the page of `level`, which is above 0. `*lost`: it was left out.
static pks_status load_child(pks__tree_cursor *cursor, uint32_t level, bool *lost, pks_error *error) {
  const uint8_t *child;
  size_t length;
  pks__id id;
  pks_le64 below;
  pks_status status = next_in_page(cursor, level, &child, &length, error);
  if (status) { return status; }
  memcpy(&id, child, sizeof id);
  memcpy(&below, child + sizeof id, sizeof below);
  status = load_page(cursor, level - 1, &id, error);
  if (!status && cursor->places[level - 1].left == 0) { status = corrupt_page(&id, error); }
  *lost = status == PKS_CORRUPT && cursor->skips_lost;
  if (!*lost) { return status; }
  cursor->places[level - 1].left = 0;
  cursor->skipped += pks__get64(below);
  return PKS_OK;
}

/// Loads pages down to a leaf with something in it, climbing where a page is used up. `*more` is false at the end of the
/// tree.
static pks_status descend(pks__tree_cursor *cursor, bool *more, pks_error *error) {
  uint32_t level = 0;
  while (cursor->places[0].left == 0) {
    while (cursor->places[level].left == 0) {
      if (level == cursor->height) {
        *more = false;
        return PKS_OK;
      }
      level++;
    }
    bool lost = false;
    while (level > 0 && !lost) {
      pks_status status = load_child(cursor, level, &lost, error);
      if (status) { return status; }
      level--;
    }
  }
  *more = true;
  return PKS_OK;
}

pks_status pks__tree_cursor_next(pks__tree_cursor *cursor, bool *more, pks_error *error) {
  if (!cursor->started) {
    if (cursor->height >= PKS__TREE_LEVELS) { return corrupt_page(&cursor->root, error); }
    pks_status status = load_page(cursor, cursor->height, &cursor->root, error);
    if (status) { return status; }
    cursor->started = true;
  }
  pks_status status = descend(cursor, more, error);
  if (status || !*more) { return status; }
  return next_in_page(cursor, 0, &cursor->value, &cursor->value_length, error);
}

pks_status pks__tree_visit_items(
  pks__scratch *page, const pks__id *id, pks__tree_kind kind, uint16_t row_size, uint32_t level,
  pks_status (*visit)(void *context, const pks__tree_item *item, pks_error *error), void *context, pks_error *error
) {
  if (level >= PKS__TREE_LEVELS) { return corrupt_page(id, error); }
  pks__tree_cursor cursor = {.kind = kind, .row_size = row_size, .root = *id};
  pks__tree_place *place = &cursor.places[level];
  place->page = *page;
  pks_status status = begin_page(&cursor, level, id, error);
  while (!status && place->left > 0) {
    pks__tree_item item = {0};
    status = next_in_page(&cursor, level, &item.body, &item.body_length, error);
    item.key = place->key.bytes;
    item.key_length = (size_t)place->key.length;
    if (!status) { status = visit(context, &item, error); }
  }
  place->page = (pks__scratch){0};
  pks__tree_cursor_free(&cursor);
  return status;
}

pks__id pks__tree_child(const pks__tree_item *item) {
  pks__id id;
  PKS_ASSERT(item->body_length == CHILD_SIZE);
  memcpy(&id, item->body, sizeof id);
  return id;
}
