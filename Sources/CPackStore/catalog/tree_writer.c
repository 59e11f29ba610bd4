#include "catalog/tree_writer.h"

#include "codec/checksum.h"

enum { HEADER_SIZE = 8, CHILD_SIZE = PKS__ID_SIZE + 8 };

void pks__tree_writer_init(pks__tree_writer *writer, pks__page_sink sink, pks__tree_kind kind, uint16_t row_size) {
  PKS_ASSERT((kind == PKS__TREE_LIST) == (row_size > 0));
  *writer = (pks__tree_writer){.sink = sink, .kind = kind, .row_size = row_size};
}

void pks__tree_writer_free(pks__tree_writer *writer) {
  for (size_t level = 0; level < PKS__TREE_LEVELS; level++) {
    pks__scratch_free(&writer->levels[level].page);
    pks__scratch_free(&writer->levels[level].last_key);
  }
}

static pks_status append_key(pks__tree_level *level, const uint8_t *key, size_t length, pks_error *error) {
  size_t shared = 0, last = (size_t)level->last_key.length;
  if (level->items > 0) {
    while (shared < last && shared < length && level->last_key.bytes[shared] == key[shared]) { shared++; }
    PKS_ASSERT(shared < length && (shared == last || key[shared] > level->last_key.bytes[shared]));
  }
  uint8_t head[2 * PKS__VARINT_MAX];
  size_t head_length = pks__put_varint(head, shared);
  head_length += pks__put_varint(head + head_length, length - shared);
  pks_status status = pks__scratch_append(&level->page, head, head_length, error);
  if (!status) { status = pks__scratch_append(&level->page, key + shared, length - shared, error); }
  level->last_key.length = 0;
  if (!status) { status = pks__scratch_append(&level->last_key, key, length, error); }
  return status;
}

/// Whether a page ends after an item of `item_length` bytes with that hash: with a probability proportional to its length, so that
/// pages have the same expected size for items of any size.
static bool splits_after(const pks__tree_level *level, uint64_t hash, uint64_t item_length) {
  if (level->page.length >= PKS__TREE_PAGE_MAX) { return true; }
  uint64_t scale = UINT64_MAX / PKS__TREE_PAGE_AVERAGE;
  return level->page.length >= PKS__TREE_PAGE_MIN && hash < pks__min64(item_length, PKS__TREE_PAGE_AVERAGE) * scale;
}

static pks_status flush_page(pks__tree_writer *writer, uint32_t at, pks__id *id, pks_error *error) {
  pks__tree_level *level = &writer->levels[at];
  uint8_t *header = level->page.bytes;
  pks_le32 items = pks__put32(level->items);
  memcpy(header + 4, &items, sizeof items);
  return writer->sink.put(writer->sink.context, level->page.bytes, (size_t)level->page.length, id, error);
}

static pks_status put_item(
  pks__tree_writer *writer, uint32_t at, const uint8_t *key, size_t key_length, const uint8_t *body, size_t body_length,
  bool with_length, uint64_t below, pks_error *error
);

/// Writes the page of a level and hands it to the level above.
static pks_status close_page(pks__tree_writer *writer, uint32_t at, pks_error *error) {
  pks__tree_level *level = &writer->levels[at];
  uint8_t child[CHILD_SIZE];
  pks__id id;
  pks_status status = flush_page(writer, at, &id, error);
  if (status) { return status; }
  pks_le64 below = pks__put64(level->below);
  memcpy(child, &id, sizeof id);
  memcpy(child + sizeof id, &below, sizeof below);
  uint64_t count = level->below;
  level->has_flushed = true;
  level->page.length = 0;
  level->items = 0;
  level->below = 0;
  return put_item(
    writer, at + 1, level->last_key.bytes, (size_t)level->last_key.length, child, sizeof child, false, count, error
  );
}

static pks_status begin_page(pks__tree_writer *writer, uint32_t at, pks_error *error) {
  uint16_t row_size = writer->kind == PKS__TREE_LIST ? writer->row_size : 0;
  uint8_t header[HEADER_SIZE] = {(uint8_t)writer->kind, (uint8_t)at, (uint8_t)row_size, (uint8_t)(row_size >> 8)};
  return pks__scratch_append(&writer->levels[at].page, header, sizeof header, error);
}

static pks_status put_item(
  pks__tree_writer *writer, uint32_t at, const uint8_t *key, size_t key_length, const uint8_t *body, size_t body_length,
  bool with_length, uint64_t below, pks_error *error
) {
  PKS_ASSERT(at < PKS__TREE_LEVELS);
  pks__tree_level *level = &writer->levels[at];
  pks_status status = level->page.length == 0 ? begin_page(writer, at, error) : PKS_OK;
  uint64_t before = level->page.length;
  if (!status && writer->kind == PKS__TREE_MAP) { status = append_key(level, key, key_length, error); }
  if (!status && with_length) {
    uint8_t length[PKS__VARINT_MAX];
    status = pks__scratch_append(&level->page, length, pks__put_varint(length, body_length), error);
  }
  if (!status) { status = pks__scratch_append(&level->page, body, body_length, error); }
  if (status) { return status; }
  level->items++;
  level->below += below;
  uint64_t hash = pks__checksum(body, body_length);
  if (writer->kind == PKS__TREE_MAP) { hash = (hash ^ pks__checksum(key, key_length)) * 0x9e3779b97f4a7c15u; }
  return splits_after(level, hash, level->page.length - before) ? close_page(writer, at, error) : PKS_OK;
}

pks_status pks__tree_writer_put(
  pks__tree_writer *writer, const void *key, size_t key_length, const void *value, size_t value_length, pks_error *error
) {
  PKS_ASSERT(writer->kind == PKS__TREE_MAP && value_length <= PKS__TREE_VALUE_MAX && key_length > 0);
  return put_item(writer, 0, key, key_length, value, value_length, true, 1, error);
}

pks_status pks__tree_writer_append(pks__tree_writer *writer, const void *row, pks_error *error) {
  PKS_ASSERT(writer->kind == PKS__TREE_LIST);
  return put_item(writer, 0, NULL, 0, row, writer->row_size, false, 1, error);
}

/// The root is the lowest page without siblings. An inner page with one child is not the root: its child is.
static pks_status find_root(pks__tree_writer *writer, pks__tree *out, pks_error *error) {
  for (uint32_t at = 0;; at++) {
    pks__tree_level *level = &writer->levels[at];
    if (level->has_flushed) {
      if (level->items > 0) {
        pks_status status = close_page(writer, at, error);
        if (status) { return status; }
      }
      continue;
    }
    out->count = level->below;
    if (at > 0 && level->items == 1) {
      out->height = at - 1;
      memcpy(&out->root, level->page.bytes + level->page.length - CHILD_SIZE, sizeof out->root);
      return PKS_OK;
    }
    out->height = at;
    pks_status status = level->page.length == 0 ? begin_page(writer, at, error) : PKS_OK;
    return status ? status : flush_page(writer, at, &out->root, error);
  }
}

pks_status pks__tree_writer_finish(pks__tree_writer *writer, pks__tree *out, pks_error *error) {
  pks_status status = find_root(writer, out, error);
  for (size_t at = 0; at < PKS__TREE_LEVELS; at++) {
    pks__tree_level *level = &writer->levels[at];
    level->page.length = 0;
    level->last_key.length = 0;
    level->items = 0;
    level->below = 0;
    level->has_flushed = false;
  }
  return status;
}
