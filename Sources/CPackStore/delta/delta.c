#include "delta/delta.h"

#include "codec/chunker.h"

uint32_t pks__delta_group_limit(uint32_t chunk_average, uint32_t prefix_max) {
  uint32_t longest = pks__chunker_make(chunk_average).maximum;
  uint32_t usual = prefix_max > 0 ? PKS__DELTA_GROUP : PKS__DELTA_GROUP_COPIED;
  return longest > usual ? longest : usual;
}

bool pks__delta_header_is_valid(const pks__delta_header *header) {
  return pks__pack_name_is_valid(header->pack) && pks__version_is_valid(header->to_number)
    && pks__version_is_valid(header->from_number) && pks__chunk_average_is_valid(header->chunk_average)
    && header->group_max <= pks__delta_group_limit(header->chunk_average, header->prefix_max)
    && header->prefix_max <= PKS__DELTA_PREFIX_MAX;
}

bool pks__delta_blocks_are_valid(const pks__delta_header *header, const pks__delta_block *blocks) {
  uint64_t described = 0, grouped = 0;
  for (uint32_t i = 0; i < header->part_count + header->group_count; i++) {
    bool is_part = i < header->part_count;
    uint32_t raw = pks__get32(blocks[i].raw_length), stored = pks__get32(blocks[i].stored_length);
    uint32_t limit = is_part ? PKS__DELTA_PART : header->group_max;
    // Even a group that did not get smaller has no more than the start of its stored form, and empty lists.
    if (raw == 0 || raw > limit || stored == 0 || stored > raw + PKS__DELTA_GROUP_START_MAX + 2) { return false; }
    *(is_part ? &described : &grouped) += raw;
  }
  return described <= PKS__DELTA_DESCRIPTION_MAX && grouped == header->new_bytes;
}

// MARK: - Groups

static bool form_is_known(uint8_t form) {
  switch (form) {
    case 0:
    case PKS__DELTA_LISTS_ENCODED:
    case PKS__DELTA_BYTES_ENCODED:
    case PKS__DELTA_LISTS_ENCODED | PKS__DELTA_BYTES_ENCODED:
    case PKS__DELTA_COPIED:
    case PKS__DELTA_COPIED | PKS__DELTA_BYTES_ENCODED:
    case PKS__DELTA_COPIED | PKS__DELTA_LITERALS_CODED: return true;
    default: return false;
  }
}

bool pks__delta_read_group(const uint8_t *stored, size_t stored_length, uint32_t raw_length, pks__delta_group *out) {
  pks__reader reader = pks__reader_make(stored, stored_length);
  out->form = pks__read8(&reader);
  uint64_t raw = pks__read_varint(&reader);
  uint64_t encoded = out->form & PKS__DELTA_LISTS_ENCODED ? pks__read_varint(&reader) : raw;
  if (reader.failed || raw == 0 || raw > PKS__DELTA_LISTS_MAX || encoded > pks__reader_left(&reader)) { return false; }
  if (!form_is_known(out->form)) { return false; }
  out->lists_raw_length = (uint32_t)raw;
  out->lists_stored_length = (uint32_t)encoded;
  out->lists = pks__read_bytes(&reader, (size_t)encoded);
  out->bytes = reader.next;
  out->bytes_length = pks__reader_left(&reader);
  return out->form & (PKS__DELTA_BYTES_ENCODED | PKS__DELTA_COPIED) || out->bytes_length == raw_length;
}

size_t pks__delta_put_group_start(
  uint8_t out[PKS__DELTA_GROUP_START_MAX], uint8_t form, uint32_t lists_raw_length, uint32_t lists_stored_length
) {
  _Static_assert(PKS__DELTA_LISTS_MAX < 1 << 21, "a length has at most three bytes");
  size_t used = 0;
  out[used++] = form;
  used += pks__put_varint(out + used, lists_raw_length);
  if (form & PKS__DELTA_LISTS_ENCODED) { used += pks__put_varint(out + used, lists_stored_length); }
  return used;
}

void pks__delta_lists_begin(pks__delta_lists *out, const uint8_t *lists, size_t length) {
  *out = (pks__delta_lists){.reader = pks__reader_make(lists, length)};
  out->left = pks__read_varint(&out->reader);
}

bool pks__delta_next_piece(
  pks__delta_lists *lists, uint64_t byte_count, uint32_t prefix_max, pks__delta_prefix_part *out
) {
  if (lists->reader.failed || lists->left == 0) { return false; }
  lists->left--;
  uint64_t position = pks__unzigzag(pks__read_varint(&lists->reader), lists->position);
  uint64_t length = pks__read_varint(&lists->reader);
  bool fits = length > 0 && length <= prefix_max - lists->total && pks__range_fits(position, length, byte_count);
  if (!fits) { lists->reader.failed = true; }
  if (lists->reader.failed) { return false; }
  lists->total += length;
  lists->position = position + length;
  *out = (pks__delta_prefix_part){.position = position, .length = (uint32_t)length};
  return true;
}

void pks__delta_begin_covers(pks__delta_lists *lists) { lists->left = pks__read_varint(&lists->reader); }

bool pks__delta_next_cover(
  pks__delta_lists *lists, uint32_t raw_length, uint64_t prefix_length, pks__delta_cover *out
) {
  if (lists->reader.failed || lists->left == 0) { return false; }
  lists->left--;
  uint64_t gap = pks__read_varint(&lists->reader), length = pks__read_varint(&lists->reader);
  uint64_t prefix = pks__unzigzag(pks__read_varint(&lists->reader), lists->prefix);
  bool fits = gap <= raw_length - lists->begin && length > 0 && length <= raw_length - lists->begin - gap
    && pks__range_fits(prefix, length, prefix_length);
  if (!fits) { lists->reader.failed = true; }
  if (lists->reader.failed) { return false; }
  *out =
    (pks__delta_cover){.begin = (uint32_t)(lists->begin + gap), .length = (uint32_t)length, .prefix = (uint32_t)prefix};
  lists->begin += gap + length;
  lists->prefix = prefix + length;
  return true;
}

bool pks__delta_lists_end(const pks__delta_lists *lists) {
  return !lists->reader.failed && lists->left == 0 && pks__reader_left(&lists->reader) == 0;
}

size_t pks__delta_put_lists(
  const pks__delta_prefix_part *pieces, uint32_t piece_count, const pks__delta_cover *covers, uint32_t cover_count,
  uint8_t *out, size_t room
) {
  size_t used = 0;
  uint64_t position = 0, begin = 0, prefix = 0;
  // Three numbers at most are written at a time.
  if (room < 3 * PKS__VARINT_MAX) { return 0; }
  room -= 3 * PKS__VARINT_MAX;
  used += pks__put_varint(out + used, piece_count);
  for (uint32_t i = 0; i < piece_count && used <= room; i++) {
    used += pks__put_varint(out + used, pks__zigzag(pieces[i].position, position));
    used += pks__put_varint(out + used, pieces[i].length);
    position = pieces[i].position + pieces[i].length;
  }
  if (used > room) { return 0; }
  used += pks__put_varint(out + used, cover_count);
  for (uint32_t i = 0; i < cover_count && used <= room; i++) {
    used += pks__put_varint(out + used, covers[i].begin - begin);
    used += pks__put_varint(out + used, covers[i].length);
    used += pks__put_varint(out + used, pks__zigzag(covers[i].prefix, prefix));
    begin = (uint64_t)covers[i].begin + covers[i].length;
    prefix = (uint64_t)covers[i].prefix + covers[i].length;
  }
  return used <= room ? used : 0;
}
