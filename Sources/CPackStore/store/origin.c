#include "store/origin.h"

#include <stdio.h>

#include "base/memory.h"

enum { FLOOR_FLAG_LOWERED = 1 };
enum { ORIGIN_SIZE = 44, FLOOR_SIZE = 37, FLOOR_EPOCH_SIZE = 16 };  ///< the least that each takes in a file

_Static_assert((int)PKS__PRODUCT_MAX + 1 == (int)PKS_PRODUCT_SIZE, "names of products have one length");

static const pks__origin local = {.number = PKS__ORIGIN_LOCAL, .kind = PKS_ORIGIN_LOCAL};

// MARK: - The table

/// Returns the origins of `table`, including the implicit one of a zeroed table.
static const pks__origin *listed(const pks__origin_table *table, uint32_t *count) {
  *count = table->count > 0 ? table->count : 1;
  return table->count > 0 ? table->origins : &local;
}

void pks__origins_free(pks__origin_table *table) {
  pks__free(table->origins);
  pks__free(table->floors);
  *table = (pks__origin_table){0};
}

/// A copy of an array with room for one more element, never NULL for lack of elements.
static void *copy_array(const void *array, size_t count, size_t size) {
  void *copy = pks__allocate_zeroed(count + 1, size);
  if (copy && count > 0) { memcpy(copy, array, count * size); }
  return copy;
}

pks_status pks__origins_copy(const pks__origin_table *from, pks__origin_table *out, pks_error *error) {
  pks__origin_table copy = *from;
  copy.origins = from->origins ? copy_array(from->origins, from->count, sizeof *copy.origins) : NULL;
  copy.floors = from->floors ? copy_array(from->floors, from->floor_count, sizeof *copy.floors) : NULL;
  if ((from->origins && !copy.origins) || (from->floors && !copy.floors)) {
    pks__origins_free(&copy);
    return pks__fail_memory(error);
  }
  *out = copy;
  return PKS_OK;
}

uint32_t pks__origins_rank(const pks__origin_table *table, uint32_t number) {
  uint32_t count;
  const pks__origin *origins = listed(table, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (origins[i].number == number) { return i; }
  }
  return UINT32_MAX;
}

bool pks__origins_get(const pks__origin_table *table, uint32_t number, pks__origin *out) {
  uint32_t count, rank = pks__origins_rank(table, number);
  if (rank == UINT32_MAX) { return false; }
  *out = listed(table, &count)[rank];
  return true;
}

/// Whether an origin's fields are consistent with its kind, except its number.
static bool is_consistent(const pks__origin *origin) {
  static const uint8_t no_key[PKS__ROOT_KEY_SIZE];
  bool has_key = memcmp(origin->key, no_key, sizeof no_key) != 0;
  bool has_product = origin->product[0] != 0;
  switch (origin->kind) {
    case PKS_ORIGIN_LOCAL: return !has_key && !has_product;
    case PKS_ORIGIN_SIGNED: return has_key && pks__product_is_valid(origin->product);
    case PKS_ORIGIN_UNSIGNED: return !has_key && pks__product_is_valid(origin->product);
    case PKS_ORIGIN_UNKNOWN: return !has_key && !has_product;
  }
  return false;
}

pks_origin pks__origin_public(const pks__origin *origin) {
  pks_origin out = {.kind = origin->kind};
  memcpy(out.key, origin->key, sizeof out.key);
  memcpy(out.product, origin->product, sizeof out.product);
  return out;
}

bool pks__origin_read(const pks_origin *origin, pks__origin *out) {
  *out = (pks__origin){.kind = origin->kind};
  if (!memchr(origin->product, 0, sizeof origin->product)) { return false; }
  memcpy(out->key, origin->key, sizeof out->key);
  (void)snprintf(out->product, sizeof out->product, "%s", origin->product);
  return is_consistent(out);
}

static bool is_same(const pks__origin *a, const pks__origin *b) {
  return a->kind == b->kind && memcmp(a->key, b->key, sizeof a->key) == 0 && strcmp(a->product, b->product) == 0;
}

uint32_t pks__origins_find(const pks__origin_table *table, const pks__origin *origin) {
  uint32_t count;
  const pks__origin *origins = listed(table, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (is_same(&origins[i], origin)) { return origins[i].number; }
  }
  return UINT32_MAX;
}

uint32_t pks__origins_count(const pks__origin_table *table) {
  uint32_t count;
  (void)listed(table, &count);
  return count;
}

pks_origin pks__origins_at(const pks__origin_table *table, uint32_t rank) {
  uint32_t count;
  const pks__origin *origins = listed(table, &count);
  PKS_ASSERT(rank < count);
  return pks__origin_public(&origins[rank]);
}

pks_status pks__origins_add(pks__origin_table *table, const pks__origin *origin, uint32_t *number, pks_error *error) {
  *number = pks__origins_find(table, origin);
  if (*number != UINT32_MAX) { return PKS_OK; }
  uint32_t count, next = table->next_number > 0 ? table->next_number : 1;
  const pks__origin *origins = listed(table, &count);
  if (count >= PKS__ORIGINS_MAX || next == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PRODUCT, origin->product, "too many origins of packs"
    );
  }
  pks__origin *larger = copy_array(origins, count, sizeof *larger);
  if (!larger) { return pks__fail_memory(error); }
  larger[count] = *origin;
  larger[count].number = *number = next;
  pks__free(table->origins);
  table->origins = larger;
  table->count = count + 1;
  table->next_number = next + 1;
  return PKS_OK;
}

pks_status pks__origins_move(pks__origin_table *table, uint32_t from, uint32_t to, pks_error *error) {
  PKS_ASSERT((from < table->count && to < table->count) || (from == 0 && to == 0));
  if (from == to) { return PKS_OK; }
  pks__origin *ordered = copy_array(table->origins, table->count, sizeof *ordered);
  if (!ordered) { return pks__fail_memory(error); }
  pks__origin moved = ordered[from];
  memmove(&ordered[from], &ordered[from + 1], (size_t)(table->count - from - 1) * sizeof *ordered);
  memmove(&ordered[to + 1], &ordered[to], (size_t)(table->count - to - 1) * sizeof *ordered);
  ordered[to] = moved;
  pks__free(table->origins);
  table->origins = ordered;
  return PKS_OK;
}

void pks__origins_remove(pks__origin_table *table, uint32_t number) {
  uint32_t rank = pks__origins_rank(table, number);
  PKS_ASSERT(number != PKS__ORIGIN_LOCAL);
  if (rank == UINT32_MAX) { return; }
  memmove(&table->origins[rank], &table->origins[rank + 1], (size_t)(table->count - rank - 1) * sizeof *table->origins);
  table->count--;
  pks__origins_remove_floors(table, number);
}

// MARK: - Floors

void pks__origins_remove_floors(pks__origin_table *table, uint32_t number) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < table->floor_count; i++) {
    if (table->floors[i].origin != number) { table->floors[kept++] = table->floors[i]; }
  }
  table->floor_count = kept;
}

static int compare_floor(const pks__floor *floor, uint32_t origin, const char *pack) {
  if (floor->origin != origin) { return floor->origin < origin ? -1 : 1; }
  return strcmp(floor->pack, pack);
}

/// Returns the index of the first floor that does not come before the searched one.
static uint32_t floor_index(const pks__origin_table *table, uint32_t origin, const char *pack, bool *found) {
  uint32_t low = 0, high = table->floor_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare_floor(&table->floors[middle], origin, pack) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *found = low < table->floor_count && compare_floor(&table->floors[low], origin, pack) == 0;
  return low;
}

const pks__floor *pks__origins_floor(const pks__origin_table *table, uint32_t origin, const char *pack) {
  bool found;
  uint32_t index = floor_index(table, origin, pack, &found);
  return found ? &table->floors[index] : NULL;
}

pks_status pks__origins_set_floor(pks__origin_table *table, const pks__floor *floor, pks_error *error) {
  bool found;
  uint32_t index = floor_index(table, floor->origin, floor->pack, &found);
  if (found) {
    table->floors[index] = *floor;
    return PKS_OK;
  }
  if (table->floor_count >= PKS__FLOORS_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, floor->pack, "the store recorded too many packs"
    );
  }
  pks__floor *larger = copy_array(table->floors, table->floor_count, sizeof *larger);
  if (!larger) { return pks__fail_memory(error); }
  memmove(&larger[index + 1], &larger[index], (size_t)(table->floor_count - index) * sizeof *larger);
  larger[index] = *floor;
  pks__free(table->floors);
  table->floors = larger;
  table->floor_count++;
  return PKS_OK;
}

// MARK: - As bytes

static void write_origin(pks__byte_writer *pen, const pks__origin *origin) {
  pks__write_32(pen, origin->number);
  pks__write_32(pen, (uint32_t)origin->kind);
  pks__write_bytes(pen, origin->key, sizeof origin->key);
  pks__write_text(pen, origin->product);
}

static void write_floor(pks__byte_writer *pen, const pks__floor *floor, bool has_epochs) {
  pks__write_32(pen, floor->origin);
  pks__write_32(pen, floor->lowered ? FLOOR_FLAG_LOWERED : 0);
  pks__write_64(pen, floor->version);
  pks__write_64(pen, floor->sequence);
  pks__write_64(pen, floor->serial);
  pks__write_text(pen, floor->pack);
  if (!has_epochs) { return; }
  pks__write_64(pen, floor->epoch);
  pks__write_64(pen, floor->taken_back);
}

bool pks__origins_have_epochs(const pks__origin_table *table) {
  for (uint32_t i = 0; i < table->floor_count; i++) {
    if (table->floors[i].epoch > 0 || table->floors[i].taken_back > 0) { return true; }
  }
  return false;
}

void pks__origins_write(pks__byte_writer *pen, const pks__origin_table *table, bool has_epochs) {
  uint32_t count;
  const pks__origin *origins = listed(table, &count);
  pks__write_32(pen, table->next_number > 0 ? table->next_number : 1);
  pks__write_32(pen, count);
  for (uint32_t i = 0; i < count; i++) { write_origin(pen, &origins[i]); }
  pks__write_32(pen, table->floor_count);
  for (uint32_t i = 0; i < table->floor_count; i++) { write_floor(pen, &table->floors[i], has_epochs); }
}

/// Reads a text of at most `limit` bytes into `out`, which has room for a zero after it. A text with a zero in it fails.
static void read_text(pks__reader *reader, size_t limit, char *out) {
  uint32_t length = pks__read32(reader);
  const uint8_t *text = length <= limit ? pks__read_bytes(reader, length) : NULL;
  if (!text || memchr(text, 0, length)) {
    reader->failed = true;
    return;
  }
  memcpy(out, text, length);
  out[length] = 0;
}

static uint32_t read_count(pks__reader *reader, size_t minimum, uint32_t limit) {
  uint32_t count = pks__read32(reader);
  if (count > limit || count > pks__reader_left(reader) / minimum) { reader->failed = true; }
  return reader->failed ? 0 : count;
}

static void read_origin(pks__reader *reader, pks__origin_table *table) {
  pks__origin origin = {.number = pks__read32(reader), .kind = (pks_origin_kind)pks__read32(reader)};
  const uint8_t *key = pks__read_bytes(reader, sizeof origin.key);
  if (key) { memcpy(origin.key, key, sizeof origin.key); }
  read_text(reader, PKS__PRODUCT_MAX, origin.product);
  if (reader->failed) { return; }
  bool numbered =
    (origin.number == PKS__ORIGIN_LOCAL) == (origin.kind == PKS_ORIGIN_LOCAL) && origin.number < table->next_number;
  bool repeated = false;
  for (uint32_t i = 0; i < table->count; i++) {
    repeated = repeated || table->origins[i].number == origin.number || is_same(&table->origins[i], &origin);
  }
  if (!numbered || repeated || !is_consistent(&origin)) {
    reader->failed = true;
    return;
  }
  table->origins[table->count++] = origin;
}

static void read_floor(pks__reader *reader, bool has_epochs, pks__origin_table *table) {
  pks__floor floor = {.origin = pks__read32(reader), .lowered = pks__read32(reader) & FLOOR_FLAG_LOWERED};
  floor.version = pks__read64(reader);
  floor.sequence = pks__read64(reader);
  floor.serial = pks__read64(reader);
  read_text(reader, PKS__PACK_NAME_MAX, floor.pack);
  if (has_epochs) {
    floor.epoch = pks__read64(reader);
    floor.taken_back = pks__read64(reader);
  }
  if (floor.taken_back > PKS__VERSION_MAX) { reader->failed = true; }
  if (reader->failed) { return; }
  const pks__floor *before = table->floor_count > 0 ? &table->floors[table->floor_count - 1] : NULL;
  bool in_order = !before || compare_floor(before, floor.origin, floor.pack) < 0;
  bool is_new_origin = !before || before->origin != floor.origin;
  bool known = !is_new_origin || pks__origins_rank(table, floor.origin) != UINT32_MAX;
  if (!in_order || !known || !pks__version_is_valid(floor.version) || !pks__pack_name_is_valid(floor.pack)) {
    reader->failed = true;
    return;
  }
  table->floors[table->floor_count++] = floor;
}

bool pks__origins_read(pks__reader *reader, bool has_epochs, pks__origin_table *out) {
  *out = (pks__origin_table){.next_number = pks__read32(reader)};
  uint32_t count = read_count(reader, ORIGIN_SIZE, PKS__ORIGINS_MAX);
  out->origins = pks__allocate_zeroed((size_t)count + 1, sizeof *out->origins);
  if (!out->origins) { return false; }
  for (uint32_t i = 0; i < count && !reader->failed; i++) { read_origin(reader, out); }
  // A table without the local origin, or with no next number, is invalid.
  if (out->next_number == 0 || pks__origins_rank(out, PKS__ORIGIN_LOCAL) == UINT32_MAX) { reader->failed = true; }
  if (count == 0) { reader->failed = true; }
  uint32_t floors = read_count(reader, FLOOR_SIZE + (has_epochs ? FLOOR_EPOCH_SIZE : 0), PKS__FLOORS_MAX);
  out->floors = pks__allocate_zeroed((size_t)floors + 1, sizeof *out->floors);
  if (!out->floors) { return false; }
  for (uint32_t i = 0; i < floors && !reader->failed; i++) { read_floor(reader, has_epochs, out); }
  if (has_epochs && !pks__origins_have_epochs(out)) { reader->failed = true; }  // the feature is not needed
  return true;
}
